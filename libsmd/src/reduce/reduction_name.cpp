// SPDX-License-Identifier: Apache-2.0
#include <smd/reduction.hpp>

#include <charconv>
#include <utility>

namespace smd {
namespace {

struct Name {
  std::string_view text;
  ReductionKind kind;
  bool has_abs;
};

constexpr std::array<Name, 21> names = {{
    {"min", ReductionKind::min, true},
    {"max", ReductionKind::max, true},
    {"median", ReductionKind::median, true},
    {"mean", ReductionKind::mean, true},
    {"std", ReductionKind::std, true},
    {"variance", ReductionKind::variance, true},
    {"sum", ReductionKind::sum, true},
    {"prod", ReductionKind::prod, true},
    {"l1", ReductionKind::l1, true},
    {"l2", ReductionKind::l2, true},
    {"count", ReductionKind::count, false},
    {"finite", ReductionKind::finite, false},
    {"nan", ReductionKind::nan, false},
    {"inf", ReductionKind::inf, false},
    {"posinf", ReductionKind::posinf, false},
    {"neginf", ReductionKind::neginf, false},
    {"zero", ReductionKind::zero, false},
    {"negative", ReductionKind::negative, false},
    {"zero_fraction", ReductionKind::zero_fraction, false},
    {"nan_fraction", ReductionKind::nan_fraction, false},
    {"rms", ReductionKind::rms, false},
}};

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

std::optional<Reduction> parse_reduction(std::string_view name) noexcept {
  const bool abs = name.starts_with("abs_");
  if (abs) {
    name.remove_prefix(4);
  }
  for (const Name& known : names) {
    if (known.text == name && (known.has_abs || !abs)) {
      return Reduction{known.kind, abs, 0};
    }
  }
  if (name.starts_with('p')) {
    if (const std::optional<double> percent = parse_percent(name.substr(1))) {
      return Reduction{ReductionKind::percentile, abs, *percent};
    }
  }
  return {};
}

std::string to_string(const Reduction& reduction) {
  std::string text = reduction.abs ? "abs_" : "";
  if (reduction.kind == ReductionKind::percentile) {
    std::array<char, 400> digits;
    const auto [end, error] =
        std::to_chars(digits.data(), digits.data() + digits.size(), reduction.percent, std::chars_format::fixed);
    return error == std::errc() ? text.append("p").append(digits.data(), end) : text;
  }
  for (const Name& known : names) {
    if (known.kind == reduction.kind) {
      text += known.text;
    }
  }
  return text;
}

bool needs_values(const Reduction& reduction) noexcept {
  return reduction.kind == ReductionKind::median || reduction.kind == ReductionKind::percentile;
}

}  // namespace smd
