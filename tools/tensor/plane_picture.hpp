// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "draw/chart.hpp"
#include "rows/buckets.hpp"
#include "rows/elements.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace smd::tool::tensor {

/// A plane of numbers made small enough to draw.
struct PlanePicture {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<double> levels;  ///< Row by row: the mean of each block of elements; NaN if one is in it.

  [[nodiscard]] double at(std::size_t row, std::size_t column) const { return levels[row * columns + column]; }
};

/// At most `most_columns` wide; blocks are squares. Calls `number(place)` for each element, row by row.
template <class Number>
[[nodiscard]] PlanePicture plane_picture(std::size_t rows, std::size_t columns, std::size_t most_columns,
                                         Number&& number) {
  const std::size_t factor = (columns + most_columns - 1) / most_columns;
  PlanePicture picture;
  picture.rows = (rows + factor - 1) / factor;
  picture.columns = (columns + factor - 1) / factor;
  picture.levels.assign(picture.rows * picture.columns, 0);
  std::vector<std::uint32_t> counts(picture.levels.size(), 0);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      const std::size_t cell = row / factor * picture.columns + column / factor;
      picture.levels[cell] += number(row * columns + column);
      ++counts[cell];
    }
  }
  for (std::size_t cell = 0; cell < counts.size(); ++cell) {
    picture.levels[cell] /= counts[cell];
  }
  return picture;
}

/// The least and greatest finite element, and where a number lies between them.
class GreyScale {
 public:
  /// Precondition: `is_real`.
  explicit GreyScale(const Elements& elements) {
    AxisRange finite;
    for (std::uint64_t i = 0; i < elements.view().size(); ++i) {
      const double number = elements.number(i);
      finite.add_finite({&number, 1});
    }
    range_ = finite.empty() ? range_ : finite;
  }

  /// From 0 to 1; infinities lie at the ends; NaN gives NaN. If all are equal: 0.
  [[nodiscard]] double level(double number) const noexcept {
    if (std::isnan(number)) {
      return number;
    }
    if (number <= range_.low || range_.high == range_.low) {
      return number > range_.high ? 1 : 0;
    }
    return number >= range_.high ? 1 : range_.part_of(number);
  }
  [[nodiscard]] double low() const noexcept { return range_.low; }
  [[nodiscard]] double high() const noexcept { return range_.high; }

 private:
  AxisRange range_ = {0, 0};
};

}  // namespace smd::tool::tensor
