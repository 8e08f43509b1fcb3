// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <smd/step.hpp>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "cli/diagnostics.hpp"
#include "cli/output_file.hpp"
#include "draw/chart.hpp"
#include "draw/gap_finder.hpp"
#include "rows/cell.hpp"
#include "rows/output_options.hpp"
#include "rows/row_writer.hpp"

namespace smd::tool {

/// The columns of `Curves`.
[[nodiscard]] std::span<const Column> curve_columns() noexcept;

/// Numbers over steps, gathered into curves: each tensor, worker, mode and reduction has one of its own. For --spark,
/// a table in which all are of the same length and fill the line; for -f svg, charts.
class Curves {
 public:
  /// The trial that following numbers belong to.
  void set_trial(std::string_view name) { trials_.emplace_back(name); }

  /// What a number is of.
  struct Point {
    std::string_view tensor;
    std::string_view worker;
    Mode mode = Mode::global;
    std::size_t reduction = 0;  ///< Its place in the names given to `print`.
    std::int64_t step = 0;      ///< Global.
    std::int64_t mode_step = 0;
    PlaceCell written = {};
  };
  /// Steps of one curve come in ascending order.
  void add(const Point& point, double number);
  /// At this step the number is not available: the curve has a gap.
  void skip(const Point& point);
  [[nodiscard]] bool empty() const noexcept { return curves_.empty(); }

  /// `reductions`: their names; empty if the numbers are values.
  void print(OutputFile& out, const OutputOptions& options, bool several_trials,
             std::span<const std::string> reductions, Diagnostics& messages) const;
  /// A chart for each reduction with all its curves; if there are three or more and all are percentiles, a fan for
  /// each tensor. Takes the curves away.
  [[nodiscard]] std::vector<Chart> take_charts(std::span<const std::string> reductions, ScaleKind scale);

 private:
  // Trial (from 1), tensor, worker, mode, reduction.
  using Key = std::tuple<std::size_t, std::string, std::string, Mode, std::size_t>;
  struct Curve {
    std::vector<std::int64_t> steps;
    PlaceCell written;
    std::vector<double> numbers;
    GapFinder gaps;
  };

  [[nodiscard]] Curve& curve_of(const Point& point);

  std::vector<std::string> trials_;
  std::map<Key, Curve> curves_;
};

}  // namespace smd::tool
