// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/trial.hpp>

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "cli/diagnostics.hpp"
#include "options.hpp"
#include "requests/other_trials.hpp"
#include "requests/requests.hpp"
#include "trial_report.hpp"

namespace smd::tool::report {

/// What examining needs, whatever the trial.
struct ExaminationContext {
  const ReportCommandOptions& options;
  const std::vector<RuleRequest>& requests;  ///< Empty: the built-in rules.
  OtherTrials& others;
  Diagnostics& messages;
};

/// The rules of -r and -C, or every built-in rule that needs neither another trial nor a parameter; none stops a job.
[[nodiscard]] std::vector<RuleRequest> requests_of_page(const RuleOptions& rules, Diagnostics& messages);

/// Examines what was saved so far. A requested stop ends it early; the report then holds what was seen.
[[nodiscard]] TrialReport examine(const ExaminationContext& context, Trial& trial, const std::string& name,
                                  const std::stop_token& stop);

/// Writes the page of what is known of all trials. `running`: the page will be written again.
using WritePage = std::function<void(std::vector<TrialReport>& trials, bool running)>;

/// Follows trials, all at once, and writes the page anew at most each --interval, and at the end: when the jobs have
/// ended, time is up (status 124), or a signal requests a stop.
/// @throws UsageError for bad patterns; OutputError.
void examine_live(const ExaminationContext& context, const std::vector<std::string>& operands, const WritePage& write);

}  // namespace smd::tool::report
