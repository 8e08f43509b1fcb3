// SPDX-License-Identifier: Apache-2.0
#include <smd/reduction.hpp>

#include "text/number.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>

namespace smd {

namespace {

// clang-format off
// Every kind, once: names, what may be asked for, help and axes follow from here, in this order.
constexpr ReductionFacts reduction_table[] = {
    {ReductionKind::min, "min", true, SavedBy::every_hook, ReductionKind::min, false, "least element"},
    {ReductionKind::max, "max", true, SavedBy::every_hook, ReductionKind::max, false, "greatest element"},
    {ReductionKind::median, "median", true, SavedBy::this_library, {}, false, "median of the elements"},
    {ReductionKind::mean, "mean", true, SavedBy::every_hook, {}, false, "mean of the elements"},
    {ReductionKind::std, "std", true, SavedBy::every_hook, {}, false, "standard deviation"},
    {ReductionKind::variance, "variance", true, SavedBy::every_hook, {}, false, "variance"},
    {ReductionKind::sum, "sum", true, SavedBy::every_hook, ReductionKind::sum, false, "sum of the elements"},
    {ReductionKind::prod, "prod", true, SavedBy::every_hook, ReductionKind::prod, false, "product of the elements"},
    {ReductionKind::l1, "l1", true, SavedBy::every_hook, ReductionKind::sum, false, "l1 norm: sum of |x|"},
    {ReductionKind::l2, "l2", true, SavedBy::every_hook, ReductionKind::l2, false, "l2 norm: root of the sum of squares"},
    {ReductionKind::count, "count", false, SavedBy::none, ReductionKind::sum, false, "number of elements"},
    {ReductionKind::finite, "finite", false, SavedBy::none, ReductionKind::sum, false, "number of finite elements"},
    {ReductionKind::nan, "nan", false, SavedBy::none, ReductionKind::sum, false, "number of NaN"},
    {ReductionKind::inf, "inf", false, SavedBy::none, ReductionKind::sum, false, "number of infinite elements"},
    {ReductionKind::posinf, "posinf", false, SavedBy::none, ReductionKind::sum, false, "number of inf"},
    {ReductionKind::neginf, "neginf", false, SavedBy::none, ReductionKind::sum, false, "number of -inf"},
    {ReductionKind::zero, "zero", false, SavedBy::none, ReductionKind::sum, false, "number of zeros"},
    {ReductionKind::negative, "negative", false, SavedBy::none, ReductionKind::sum, false, "number of negative elements"},
    {ReductionKind::percentile, "p", true, SavedBy::none, {}, false, "percentile of the elements"},
    {ReductionKind::zero_fraction, "zero_fraction", false, SavedBy::none, {}, true, "share of zeros, of 1"},
    {ReductionKind::nan_fraction, "nan_fraction", false, SavedBy::none, {}, true, "share of NaN, of 1"},
    {ReductionKind::rms, "rms", false, SavedBy::none, {}, false, "root of the mean square"},
};
// clang-format on

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

std::span<const ReductionFacts> all_reductions() noexcept { return reduction_table; }

const ReductionFacts& facts_of(ReductionKind kind) noexcept {
  static constexpr ReductionFacts unknown = {{}, "unknown", false, SavedBy::none, {}, false, "unknown"};
  const auto* const found = std::ranges::find(reduction_table, kind, &ReductionFacts::kind);
  return found == std::end(reduction_table) ? unknown : *found;
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
