// SPDX-License-Identifier: Apache-2.0
#include "reduce/saved_reductions.hpp"
#include "text/escape.hpp"
#include "text/nearest.hpp"
#include "text/trim.hpp"

#include <smd/collection.hpp>
#include <smd/error.hpp>
#include <smd/reduction.hpp>

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
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (error != std::errc() || end != text.data() + text.size() || value > 100) {
    return {};
  }
  return value;
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

namespace {

[[noreturn]] void refuse(std::string_view name) {
  std::vector<std::string> known;
  std::string plain;
  for (const ReductionFacts& one : reduction_table) {
    if (one.saved_by != SavedBy::none) {
      known.emplace_back(one.name);
      known.push_back("abs_" + std::string(one.name));
      plain += std::string(one.name) + " ";
    }
  }
  plain.back() = ',';
  const std::vector<std::string_view> names(known.begin(), known.end());
  const std::vector<std::string> near = detail::nearest(name, names, 1);
  throw InvalidArgument(
      "'" + detail::printable(name) + "' is not a reduction that can be saved" +
      (near.empty() ? "; there are " + plain + " each also abs_" : "; did you mean '" + near.front() + "'?"));
}

void add(ReductionConfig& config, const std::string& name) {
  const std::string plain = detail::reduce::plain_reduction_name(name);
  if (!detail::reduce::can_be_saved(plain)) {
    refuse(name);
  }
  if (std::find(config.reductions.begin(), config.reductions.end(), plain) == config.reductions.end()) {
    config.reductions.push_back(plain);
  }
}

}  // namespace

ReductionConfig ReductionConfig::parse(std::string_view list, bool save_raw_tensor, bool save_shape) {
  ReductionConfig config{.save_raw_tensor = save_raw_tensor, .save_shape = save_shape};
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (const std::string_view name = text::trimmed(list.substr(0, comma)); !name.empty()) {
      add(config, std::string(name));
    }
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return config;
}

ReductionConfig ReductionConfig::of(const std::vector<std::string>& reductions,
                                    const std::vector<std::string>& abs_reductions,
                                    const std::vector<std::string>& norms, const std::vector<std::string>& abs_norms,
                                    bool save_raw_tensor, bool save_shape) {
  ReductionConfig config{.save_raw_tensor = save_raw_tensor, .save_shape = save_shape};
  for (const auto* list : {&reductions, &norms}) {
    for (const std::string& name : *list) {
      add(config, name);
    }
  }
  for (const auto* list : {&abs_reductions, &abs_norms}) {
    for (const std::string& name : *list) {
      add(config, "abs_" + name);
    }
  }
  return config;
}

}  // namespace smd
