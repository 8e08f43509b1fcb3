// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "draw/chart.hpp"
#include "trial_report.hpp"

namespace smd::tool::report {

/// One gathered curve, and whose it is.
struct NamedCurve {
  std::size_t trial = 0;
  std::string tensor;
  Mode mode = Mode::global;
  const ThinCurve* curve = nullptr;
};

/// Picks a curve of a tensor in one mode.
using PickCurve = std::function<const ThinCurve&(const ModeHistory&)>;

/// The curves of some tensors in all trials that are not empty: by trial, tensor, mode.
[[nodiscard]] std::vector<NamedCurve> curves_of(std::span<const TrialReport> trials,
                                                const std::set<std::string>& tensors, const PickCurve& pick);

/// These curves in one chart, named by what differs among them. A colour for each trial, or else for each tensor;
/// dashes distinguish modes, or validation from training.
/// `all`: how many curves share the page's room with them, if that is more.
[[nodiscard]] CurveSet curve_set(std::span<const TrialReport> trials, const std::vector<NamedCurve>& curves,
                                 std::size_t all = 0);

/// Names of the tensors of some role in any trial, in byte order.
[[nodiscard]] std::vector<std::string> tensors_of(std::span<const TrialReport> trials,
                                                  const std::function<bool(const TensorHistory&)>& which);

/// The axis of steps; its name says so if steps are counted over all modes.
[[nodiscard]] ChartAxis step_axis(std::span<const TrialReport> trials);

}  // namespace smd::tool::report
