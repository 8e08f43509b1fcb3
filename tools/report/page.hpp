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

}  // namespace smd::tool::report
