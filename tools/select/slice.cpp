// SPDX-License-Identifier: Apache-2.0
#include "select/slice.hpp"

#include "cli/exit_status.hpp"
#include "cli/mapped.hpp"
#include "cli/text.hpp"
#include "text/number.hpp"
#include "text/trim.hpp"

#include <algorithm>
#include <limits>

namespace smd::tool {

namespace {

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

std::vector<std::string_view> trimmed_parts(std::string_view text, std::string_view separator) {
  return mapped(split(text, separator), [](std::string_view part) { return text::trimmed(part, " "); });
}

std::int64_t parse_index(std::string_view text) {
  const bool plus = text.size() > 1 && text.front() == '+' && text[1] != '-';
  const auto number = text::parsed<std::int64_t>(text.substr(plus ? 1 : 0));
  invalid_if(!number, single_quoted(text) + " is not an index: use integers, START:STOP:STEP, or ... between commas");
  return *number;
}

std::optional<std::int64_t> parse_bound(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional(parse_index(text));
}

SliceTerm parse_term(std::string_view text) {
  SliceTerm term;
  if (text == "...") {
    term.kind = SliceTerm::Kind::ellipsis;
    return term;
  }
  const std::vector<std::string_view> parts = trimmed_parts(text, ":");
  if (parts.size() == 1) {
    term.kind = SliceTerm::Kind::index;
    term.index = parse_index(text);
    return term;
  }
  invalid_if(parts.size() > 3, single_quoted(text) + " has more than START:STOP:STEP");
  term.start = parse_bound(parts[0]);
  term.stop = parse_bound(parts[1]);
  if (parts.size() == 3) {
    term.step = parse_bound(parts[2]).value_or(1);
  }
  invalid_if(term.step == 0, "slice step cannot be zero");
  term.step = std::max(term.step, -largest);  // so that it can be negated
  return term;
}

struct Range {
  std::int64_t start;
  std::int64_t length;
};

// Python's slice.indices.
Range resolve(const SliceTerm& term, std::int64_t size) {
  const bool forward = term.step > 0;
  const std::int64_t lower = forward ? 0 : -1;
  const std::int64_t upper = forward ? size : size - 1;
  const auto clamp = [&](std::int64_t bound) {
    return bound < 0 ? std::max(bound + size, lower) : std::min(bound, upper);
  };
  const std::int64_t start = term.start ? clamp(*term.start) : (forward ? lower : upper);
  const std::int64_t stop = term.stop ? clamp(*term.stop) : (forward ? upper : lower);
  const std::int64_t distance = forward ? stop - start : start - stop;
  return {start, distance > 0 ? (distance - 1) / (forward ? term.step : -term.step) + 1 : 0};
}

std::int64_t checked_index(const SliceTerm& term, std::int64_t size, std::size_t axis) {
  if (term.index >= size || term.index < -size) {
    throw InvalidValue("index " + std::to_string(term.index) + " is out of bounds for axis " + std::to_string(axis) +
                       " with size " + std::to_string(size));
  }
  return term.index < 0 ? term.index + size : term.index;
}

}  // namespace

SliceSpec SliceSpec::parse(std::string_view text) {
  SliceSpec spec;
  std::vector<std::string_view> items = trimmed_parts(text, ",");
  if (items.size() > 1 && items.back().empty()) {
    items.pop_back();  // `0,` is a tuple of one in Python
  }
  bool ellipsis = false;
  for (const std::string_view item : items) {
    const SliceTerm term = parse_term(item);
    invalid_if(term.kind == SliceTerm::Kind::ellipsis && std::exchange(ellipsis, true),
               "an index can only have a single ellipsis ('...')");
    spec.terms_.push_back(term);
  }
  return spec;
}

StridedPart SliceSpec::apply(const Shape& shape) const {
  const auto named = static_cast<std::size_t>(
      std::ranges::count_if(terms_, [](const SliceTerm& term) { return term.kind != SliceTerm::Kind::ellipsis; }));
  if (named > shape.size()) {
    throw InvalidValue("too many indices for array: array is " + std::to_string(shape.size()) + "-dimensional, but " +
                       std::to_string(named) + " were indexed");
  }
  const std::vector<std::int64_t> strides = whole_strides(shape);
  StridedPart part;
  std::size_t axis = 0;
  const auto keep = [&](std::size_t count) {
    for (; count != 0; --count, ++axis) {
      part.shape.push_back(shape[axis]);
      part.strides.push_back(strides[axis]);
    }
  };
  for (const SliceTerm& term : terms_) {
    if (term.kind == SliceTerm::Kind::ellipsis) {
      keep(shape.size() - named);
    } else if (term.kind == SliceTerm::Kind::index) {
      part.offset += checked_index(term, shape[axis], axis) * strides[axis];
      ++axis;
    } else {
      const Range range = resolve(term, shape[axis]);
      part.shape.push_back(range.length);
      // With one element the step is not used; multiplied, it might not fit.
      part.strides.push_back(range.length > 1 ? strides[axis] * term.step : 0);
      part.offset += range.length != 0 ? range.start * strides[axis] : 0;
      ++axis;
    }
  }
  keep(shape.size() - axis);
  return part;
}

std::string narrow(Extent& value, const SliceSpec& slice) try {
  value.narrow(slice.apply(value.shape()));
  return {};
} catch (const InvalidValue& error) {
  return error.what();
}

}  // namespace smd::tool
