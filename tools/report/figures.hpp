// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "draw/chart.hpp"
#include "trial_report.hpp"

namespace smd::tool::report {

/// A chart for the page.
struct Figure {
  Chart chart;                             ///< Without its axis of steps.
  std::set<std::string> tensors = {};      ///< Whose findings are marked.
  std::vector<std::string> commands = {};  ///< Which print the same numbers.
  std::string remark = {};                 ///< Text below it; may be empty.
  std::size_t rows = 300;                  ///< Of the table behind it; the commands print all.
};

/// Numbers the figures of a page, marks the findings in them, and knows where a tensor is shown.
class Figures {
 public:
  explicit Figures(std::span<const TrialReport> trials);

  /// The figure as HTML: the chart, and behind it a table and the command line.
  [[nodiscard]] std::string add(Figure figure);
  /// The name of a tensor, as a link to the first figure that shows it.
  [[nodiscard]] std::string linked_name(std::string_view tensor) const;
  /// How many findings there are about a tensor, in all trials.
  [[nodiscard]] std::size_t findings_of(std::string_view tensor) const;

 private:
  [[nodiscard]] std::vector<ChartFinding> marks_of(const std::set<std::string>& tensors) const;

  struct OfTensor {
    std::vector<ChartFinding> marks = {};  // with the hue of the trial, if there are several
    std::size_t findings = 0;
    std::size_t figure = 0;  // the first that shows it; 0: none
  };

  ChartAxis steps_;                                       // of every figure
  std::map<std::string, OfTensor, std::less<>> tensors_;  // empty name: no tensor
  std::size_t figures_ = 0;
};

/// The anchor of a rule's result: `rule-1-3`.
[[nodiscard]] std::string rule_anchor(std::size_t trial, std::size_t rule);

/// How many columns each of `curves` curves of one figure may take, so that the page stays small.
[[nodiscard]] std::size_t columns_for(std::size_t curves) noexcept;

/// One gathered curve, and whose it is.
struct NamedCurve {
  std::size_t trial = 0;
  std::string tensor;
  Mode mode = Mode::global;
  const ThinCurve* curve = nullptr;
};

/// The curves of some tensors in all trials that are not empty: by trial, tensor, mode.
[[nodiscard]] std::vector<NamedCurve> curves_of(std::span<const TrialReport> trials,
                                                const std::set<std::string>& tensors, Measure measure);

/// These curves in one chart, named by what differs among them. A colour for each trial, or else for each tensor;
/// dashes distinguish modes, or validation from training.
/// `all`: how many curves share the page's room with them, if that is more.
[[nodiscard]] CurveSet curve_set(std::span<const TrialReport> trials, const std::vector<NamedCurve>& curves,
                                 std::size_t all = 0);

/// Names of the tensors of some role in any trial, in byte order.
[[nodiscard]] std::vector<std::string> tensors_of(std::span<const TrialReport> trials,
                                                  const std::function<bool(const TensorHistory&)>& which);

}  // namespace smd::tool::report
