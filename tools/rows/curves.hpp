// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <smd/step.hpp>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "cli/diagnostics.hpp"
#include "cli/output_file.hpp"
#include "cli/terminal.hpp"
#include "draw/chart.hpp"
#include "draw/curve.hpp"
#include "rows/cell.hpp"
#include "rows/output_options.hpp"
#include "rows/picture_options.hpp"
#include "rows/row_writer.hpp"

namespace smd::tool {

/// The columns of `Curves`.
[[nodiscard]] std::span<const Column> curve_columns() noexcept;

/// The axis of a statistic by its column's name: said in full, with its unit; a share reaches from 0 to 1.
[[nodiscard]] ChartAxis statistic_axis(std::string_view name);

/// The places of percentiles (`min`, `p25`, `median`, `max`) among columns, from the least to the greatest percentile;
/// empty if a column is not a percentile, or is one that was named before.
[[nodiscard]] std::vector<std::size_t> percentile_order(std::span<const std::string> names);

/// The dashes of a mode's curve, if dashes distinguish modes.
[[nodiscard]] Dash dash_of(Mode mode) noexcept;

/// The axis of global steps. Its name says so if they are not the steps of a mode too.
[[nodiscard]] ChartAxis step_axis(bool of_all_modes);

/// What some curves are of: what differs names each of them, what all have in common stands above their chart.
struct CurveNames {
  std::set<std::size_t> trials = {};
  std::set<std::string> tensors = {};
  std::set<std::string> workers = {};
  std::set<Mode> modes = {};

  void add(std::size_t trial, std::string_view tensor, Mode mode, std::string_view worker = {});
  /// The name of one of the curves. `trial`: the trial's name.
  [[nodiscard]] std::string name_of(std::string_view trial, std::string_view tensor, Mode mode,
                                    std::string_view worker = {}) const;
  /// What they have in common besides the tensor. `names`: of all trials.
  [[nodiscard]] std::string common(const std::vector<std::string>& names) const;
  /// The tensor, or how many there are.
  [[nodiscard]] std::string all_tensors() const;
  [[nodiscard]] ChartAxis steps() const;
};

/// Numbers over steps, gathered into curves: each tensor, worker, mode and reduction has one of its own. For --spark,
/// a table in which all are of the same length and fill the line; for -f svg, charts.
class Curves {
 public:
  /// The trial that following numbers belong to. `again`: the curves of a trial of this name go on, if there is one.
  void set_trial(std::string_view name, bool again = false);

  /// What a number belongs to.
  struct Point {
    std::string_view tensor;
    std::string_view worker;
    Mode mode = Mode::global;
    bool smooth = false;        ///< Of --smooth: drawn over the curve that is not, which is pale then.
    std::size_t reduction = 0;  ///< Its place in the names given to `print`.
    std::int64_t step = 0;      ///< Global.
    std::int64_t mode_step = 0;
    PlaceCell written = {};
  };
  /// Steps of one curve come in ascending order.
  void add(const Point& point, double number);
  /// Notes that the number is unavailable at this step: the curve has a gap.
  void skip(const Point& point);
  [[nodiscard]] bool empty() const noexcept { return curves_.empty(); }

  /// Prints the table of --spark. `reductions`: their names; empty if the numbers are values.
  void print(OutputFile& out, const OutputOptions& options, bool several_trials,
             std::span<const std::string> reductions, Diagnostics& messages) const;
  /// A chart for each reduction with all its curves; if there are three or more and all are percentiles, a fan for each
  /// tensor. Consumes the curves.
  [[nodiscard]] std::vector<Chart> take_charts(std::span<const std::string> reductions, ScaleKind scale);

 private:
  // Trial (from 1), tensor, worker, mode, whether smooth, reduction.
  using Key = std::tuple<std::size_t, std::string, std::string, Mode, bool, std::size_t>;
  struct Curve {
    std::vector<std::int64_t> steps;
    PlaceCell written;
    std::vector<double> numbers;
    GapFinder gaps;
  };

  static constexpr std::size_t reduction_of_key = 5;

  [[nodiscard]] Curve& curve_of(const Point& point);
  [[nodiscard]] std::string name_of(const CurveNames& names, const Key& key) const;
  [[nodiscard]] static ChartCurve take_curve(Curve& curve, std::string name);
  [[nodiscard]] std::vector<Chart> take_fans(const CurveNames& names, std::span<const std::string> reductions,
                                             std::span<const std::size_t> order, ScaleKind scale);
  // `name`: of the reduction; null: the numbers are values. Returns nullopt if it has no curves.
  [[nodiscard]] std::optional<Chart> take_chart(const CurveNames& names, std::size_t reduction, const std::string* name,
                                                ScaleKind scale);

  std::vector<std::string> trials_;
  std::size_t trial_ = 0;
  std::map<Key, Curve> curves_;
};

/// Curves as a view shows them: the table of --spark, drawn again in place on a terminal whenever a step of followed
/// trials has come; in -f svg charts.
class CurvesView : public Curves {
 public:
  /// `reductions`: as `Curves::print`. The others must outlive this.
  CurvesView(OutputFile& out, const OutputOptions& options, const PictureOptions& picture, bool several_trials,
             bool follows, std::vector<std::string> reductions, Diagnostics& messages)
      : out_(out),
        options_(options),
        picture_(picture),
        several_trials_(several_trials),
        follows_(follows),
        reductions_(std::move(reductions)),
        messages_(messages),
        screen_(out, messages) {}

  void set_trial(std::string_view name) { Curves::set_trial(name, follows_); }
  /// Draws, unless drawing takes much of the time.
  void end_step() { draw(false); }
  /// `instead`: what to do if there are too many charts.
  void finish(std::string_view instead);

 private:
  void draw(bool last);

  OutputFile& out_;
  const OutputOptions& options_;
  const PictureOptions& picture_;
  bool several_trials_;
  bool follows_;
  std::vector<std::string> reductions_;
  Diagnostics& messages_;
  Redraw screen_;
  std::chrono::steady_clock::time_point next_;
};

/// The exponential mean of a series as TensorBoard shows it: s = W s + (1 - W) x, divided by 1 - W^n, where n counts
/// finite numbers. Numbers that are not finite stay as they are. Steps may come in any order.
struct SmoothedSeries {
  struct Point {
    std::int64_t step = 0;
    double number = 0;
    double mean = 0;
    double sum = 0;
    double left = 1;  ///< W^n
  };

  double weight = 0;
  std::vector<Point> points = {};  ///< By step.

  /// Adds or replaces a number, after which later means are others. Returns its mean.
  double put(std::int64_t step, double number);
  /// Null if the step has no number.
  [[nodiscard]] const Point* find(std::int64_t step) const;
};

}  // namespace smd::tool
