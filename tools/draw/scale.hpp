// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "draw/chart.hpp"

namespace smd::tool {

/// A number on an axis, and how it is written there.
struct Tick {
  double value = 0;
  std::string label;
};

/// Where numbers lie on an axis of a drawing.
class Scale {
 public:
  /// From `extent.low` at the place `from` to `extent.high` at the place `to`. @pre low < high, both finite, and
  /// positive on a logarithmic axis: as `Scale::extent` makes them.
  Scale(const ChartAxis& axis, AxisRange extent, double from, double to) noexcept;

  /// The numbers that an axis shows: those drawn, the axis' own bounds, and a margin (`margin`: its part of the
  /// whole). Equal numbers, or none, get room on both sides.
  [[nodiscard]] static AxisRange extent(const ChartAxis& axis, AxisRange drawn, double margin) noexcept;

  /// Whether a number has a place: it is finite and, on a logarithmic axis, positive.
  [[nodiscard]] bool shows(double number) const noexcept;
  /// @pre `shows(number)`.
  [[nodiscard]] double place(double number) const noexcept;
  /// Round numbers within the extent, at most about `most`: 1, 2 or 5 times a power of ten apart, or powers of ten on a
  /// logarithmic axis. At least one, unless there is no round number.
  [[nodiscard]] std::vector<Tick> ticks(std::size_t most) const;

  [[nodiscard]] double from() const noexcept { return from_; }
  [[nodiscard]] double to() const noexcept { return to_; }

 private:
  [[nodiscard]] std::vector<Tick> linear_ticks(std::size_t most) const;

  ScaleKind kind_;
  bool whole_;
  AxisRange extent_;
  double from_;
  double to_;
};

}  // namespace smd::tool
