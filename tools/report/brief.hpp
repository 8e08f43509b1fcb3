// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trial_report.hpp"

namespace smd::tool::report {

/// What became of one loss.
struct LossFacts {
  std::string name;  ///< With its mode, if the trial saved it in several.
  ChartPoint last;
  std::optional<ChartPoint> best;  ///< The least finite number; nullopt: there is none.
};
/// The losses of a trial, by name; none if it was not read.
[[nodiscard]] std::vector<LossFacts> losses_of(const TrialReport& trial);

/// Where NaN or an infinity came first; nullopt if nowhere.
struct FirstNotFinite {
  std::string_view tensor;
  GlobalStep step;
};
[[nodiscard]] std::optional<FirstNotFinite> first_not_finite(const TrialReport& trial);

/// The page in brief, of each trial at most 40 lines and 4 KB: for a pull request (Markdown).
[[nodiscard]] std::string brief_markdown(std::span<const TrialReport> trials);
/// The same for a program: an array with an object for each trial.
[[nodiscard]] std::string brief_json(std::span<const TrialReport> trials);

}  // namespace smd::tool::report
