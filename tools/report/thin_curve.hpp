// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <smd/step.hpp>
#include <string>
#include <vector>

#include "draw/chart.hpp"
#include "draw/curve.hpp"

namespace smd::tool::report {

/// Numbers over ascending steps in bounded memory: once there are many, steps are put into columns of equal width, and
/// of each column the first, last, least and greatest number are kept, and one of each kind that is not finite. The
/// width doubles as the curve grows, so that what is kept does not depend on how long the job will run.
class ThinCurve {
 public:
  /// At most 8 points are kept for each of `columns` columns; 0: only the facts.
  explicit ThinCurve(std::size_t columns = 256) noexcept : columns_(columns) {}

  /// @param counted The step as its mode counts it: gaps in these numbers show missing steps.
  void add(GlobalStep step, ModeStep counted, double number);
  /// Notes a missing number: the curve has a gap.
  void skip() noexcept { gaps_.skip(); }

  [[nodiscard]] bool empty() const noexcept { return facts_.counts.points == 0; }
  [[nodiscard]] const CurveFacts& facts() const noexcept { return facts_; }  ///< Of all points, kept or not.
  /// The curve thinned to `columns` columns, or to as many as it has.
  [[nodiscard]] ChartCurve chart_curve(std::string name, std::size_t columns) const;

 private:
  struct Kept {
    std::int64_t step;
    double number;
    std::size_t place;  // among all points
  };
  [[nodiscard]] static std::vector<Kept> thinned(const std::vector<Kept>& points, std::size_t columns);

  std::size_t columns_;
  std::int64_t last_ = 0;
  std::vector<Kept> points_;
  CurveFacts facts_;
  GapFinder gaps_;
};

}  // namespace smd::tool::report
