// SPDX-License-Identifier: Apache-2.0
#include "draw/scale.hpp"

#include "cli/number_format.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace smd::tool {

namespace {

constexpr double greatest_double = std::numeric_limits<double>::max();
constexpr double least_positive = std::numeric_limits<double>::min();

int exponent_of(double number) { return static_cast<int>(std::floor(std::log10(std::abs(number)))); }

// A multiple of 10^exponent: plain below a million, and exact where numbers are whole.
std::string tick_label(double value, int exponent) {
  if (value == 0) {
    return "0";
  }
  if (value == std::floor(value) && exponent >= 0 && std::abs(value) < 1e6) {
    return std::to_string(static_cast<std::int64_t>(value));
  }
  const int magnitude = exponent_of(value);
  const int plain = magnitude >= 0 && magnitude < 6 ? magnitude + 1 : 1;
  return number_text(value, std::clamp(std::max(magnitude - exponent + 1, plain), 1, 17));
}

}  // namespace

Scale::Scale(const ChartAxis& axis, AxisRange extent, double from, double to) noexcept
    : kind_(axis.scale), whole_(axis.whole), extent_(extent), from_(from), to_(to) {}

AxisRange Scale::extent(const ChartAxis& axis, AxisRange drawn, double margin) noexcept {
  if (axis.least) {
    drawn.add(*axis.least);
  }
  if (axis.greatest) {
    drawn.add(*axis.greatest);
  }
  if (axis.scale == ScaleKind::logarithmic) {
    if (drawn.empty()) {
      drawn = {0.1, 1};
    }
    const double powers = std::log10(drawn.high) - std::log10(drawn.low);
    const double factor = powers < 1e-9 ? 2 : std::pow(10, powers * margin);
    return {std::max(drawn.low / factor, std::numeric_limits<double>::denorm_min()),
            std::min(drawn.high * factor, greatest_double)};
  }
  if (drawn.empty()) {
    drawn = {0, 1};
  }
  const double size = std::max(std::abs(drawn.low), std::abs(drawn.high));
  if (drawn.high / 2 - drawn.low / 2 <= std::max(size * 1e-15, least_positive)) {  // equal, as far as can be drawn
    const double room = axis.whole  ? std::max(1.0, size * 1e-12)
                        : size == 0 ? 1
                                    : std::max(size / 10, 4 * least_positive);
    return {std::max(drawn.low - room, -greatest_double), std::min(drawn.high + room, greatest_double)};
  }
  // Halves, so that the distance of any two numbers is finite.
  const double room = (drawn.high / 2 - drawn.low / 2) * margin * 2;
  const bool positive = drawn.low >= 0;
  AxisRange wide = {std::max(drawn.low - room, -greatest_double), std::min(drawn.high + room, greatest_double)};
  if ((positive && wide.low < 0) || axis.least == drawn.low) {
    wide.low = positive ? std::min(drawn.low, 0.0) : drawn.low;
  }
  if (axis.greatest == drawn.high) {
    wide.high = drawn.high;
  }
  return wide;
}

bool Scale::shows(double number) const noexcept {
  return std::isfinite(number) && (kind_ == ScaleKind::linear || number > 0);
}

double Scale::place(double number) const noexcept {
  const double part = kind_ == ScaleKind::linear ? extent_.part_of(number)
                                                 : (std::log10(number) - std::log10(extent_.low)) /
                                                       (std::log10(extent_.high) - std::log10(extent_.low));
  return from_ + part * (to_ - from_);
}

std::vector<Tick> Scale::linear_ticks(std::size_t most) const {
  const double apart = (extent_.high / 2 - extent_.low / 2) / (static_cast<double>(most) / 2);
  if (!(apart > least_positive)) {
    return {};
  }
  int exponent = exponent_of(apart);
  const double power = std::pow(10, exponent);
  const double factor = power >= apart ? 1 : 2 * power >= apart ? 2 : 5 * power >= apart ? 5 : 10;
  double distance = factor * power;
  if (whole_ && distance < 1) {
    distance = 1;
    exponent = 0;
  }
  // Beyond 2^53 multiples can no longer be told apart.
  const double first = std::ceil(extent_.low / distance);
  if (!(std::abs(first) < 9e15)) {
    return {};
  }
  std::vector<Tick> ticks;
  for (double k = first; k * distance <= extent_.high && ticks.size() <= 2 * most; ++k) {
    const double value = k * distance;
    ticks.push_back({value, whole_ ? whole_number_text(value, 17) : tick_label(value, exponent)});
  }
  return ticks;
}

std::vector<Tick> Scale::ticks(std::size_t most) const {
  most = std::max<std::size_t>(most, 2);
  if (kind_ == ScaleKind::linear) {
    return linear_ticks(most);
  }
  const int first = static_cast<int>(std::ceil(std::log10(extent_.low) - 1e-9));
  const int last = static_cast<int>(std::floor(std::log10(extent_.high) + 1e-9));
  const int powers = last - first + 1;
  std::vector<Tick> ticks;
  if (powers >= 3 || static_cast<std::size_t>(std::max(powers, 0)) * 3 > 2 * most) {
    const int every = static_cast<int>((static_cast<std::size_t>(powers) + most - 1) / most);
    for (int exponent = first; exponent <= last; ++exponent) {
      if (exponent % every == 0) {
        ticks.push_back({std::pow(10, exponent), tick_label(std::pow(10, exponent), exponent)});
      }
    }
    return ticks;
  }
  for (int exponent = first - 1; exponent <= last; ++exponent) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double value = factor * std::pow(10, exponent);
      if (value >= extent_.low && value <= extent_.high) {
        ticks.push_back({value, tick_label(value, exponent)});
      }
    }
  }
  return ticks.size() >= 2 ? ticks : linear_ticks(most);
}

}  // namespace smd::tool
