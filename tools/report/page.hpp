// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>

#include "options.hpp"
#include "trial_report.hpp"

namespace smd::tool::report {

/// The page about some trials, whole, as HTML. It depends on nothing but its arguments. `reload`: the page reloads
/// itself at this interval. `options`: what its commands repeat.
[[nodiscard]] std::string page_html(std::span<TrialReport> trials, const ReportCommandOptions& options,
                                    std::optional<std::chrono::milliseconds> reload);

/// The page in brief, of each trial at most 40 lines and 4 KB: for a pull request (Markdown).
[[nodiscard]] std::string brief_markdown(std::span<const TrialReport> trials);
/// The same for a program: an array with an object for each trial.
[[nodiscard]] std::string brief_json(std::span<const TrialReport> trials);

}  // namespace smd::tool::report
