// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "follow/following.hpp"
#include "operands/reading_options.hpp"
#include "requests/requests.hpp"
#include "select/selection.hpp"

namespace smd::tool::report {

/// The options of smd-report, as an option table and as values, with the shared options beside them.
struct ReportCommandOptions {
  std::vector<std::string> operands;
  SelectionOptions selection;
  RuleOptions rules;  ///< Empty: each built-in rule that has something to evaluate.
  ReadingOptions reading;
  FollowingOptions following;
  std::string format;  ///< -f: html, md or json.
  std::string file;    ///< -o; empty: standard output.
  std::string title;   ///< Empty: the trials' names.
  bool null_separated = false;
  bool quiet = false;

  static std::span<const OptionSpec> table() noexcept;
  /// @throws UsageError, also for options that contradict each other.
  static ReportCommandOptions from(const CommandLine& line);
};

/// smd-report: one page to look at.
[[nodiscard]] const CommandDefinition& definition();
ExitStatus run(const ReportCommandOptions& options, Diagnostics& messages);

}  // namespace smd::tool::report
