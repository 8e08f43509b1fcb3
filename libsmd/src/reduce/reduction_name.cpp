// SPDX-License-Identifier: Apache-2.0
#include <smd/reduction.hpp>

#include "text/number.hpp"

#include <algorithm>
#include <charconv>

namespace smd {

namespace {

// Digits, optionally a point and more digits: no sign, no exponent.
std::optional<double> parse_percent(std::string_view text) noexcept {
  if (text.empty() || text.front() == '.' || text.back() == '.' ||
      text.find_first_not_of("0123456789.") != std::string_view::npos) {
    return {};
  }
  const auto value = text::parsed<double>(text);
  return value && *value <= 100 ? value : std::nullopt;
}

}  // namespace

const ReductionFacts& facts_of(ReductionKind kind) noexcept {
  static constexpr ReductionFacts unknown = {{}, "unknown", false, SavedBy::none, {}, false, "unknown"};
  const auto* const found = std::find_if(reduction_table.begin(), reduction_table.end(),
                                         [kind](const ReductionFacts& facts) { return facts.kind == kind; });
  return found == reduction_table.end() ? unknown : *found;
}

std::optional<Reduction> parse_reduction(std::string_view name) noexcept {
  const bool abs = name.starts_with("abs_");
  if (abs) {
    name.remove_prefix(4);
  }
  for (const ReductionFacts& known : reduction_table) {
    if (abs && !known.abs) {
      continue;
    }
    if (known.kind != ReductionKind::percentile) {
      if (known.name == name) {
        return Reduction{known.kind, abs, 0};
      }
    } else if (name.starts_with(known.name)) {
      if (const std::optional<double> percent = parse_percent(name.substr(known.name.size()))) {
        return Reduction{known.kind, abs, *percent};
      }
    }
  }
  return {};
}

std::string to_string(const Reduction& reduction) {
  std::string text = reduction.abs ? "abs_" : "";
  text += facts_of(reduction.kind).name;
  if (reduction.kind == ReductionKind::percentile) {
    std::array<char, 400> digits;
    const auto [end, error] =
        std::to_chars(digits.data(), digits.data() + digits.size(), reduction.percent, std::chars_format::fixed);
    text.append(digits.data(), error == std::errc() ? end : digits.data());
  }
  return text;
}

bool needs_values(const Reduction& reduction) noexcept {
  return reduction.kind == ReductionKind::median || reduction.kind == ReductionKind::percentile;
}

}  // namespace smd
