// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/hook_config.hpp>
#include <smd/rule.hpp>
#include <smd/rule_config.hpp>
#include <smd/rule_result.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/diagnostics.hpp"
#include "options.hpp"

namespace smd::tool::rule {

/// One rule to evaluate by, from -r or from a file.
struct RuleRequest {
  RuleConfiguration configuration;          ///< Its name is empty for -r.
  std::string file = {};                    ///< Empty for -r.
  std::size_t other_trials = 0;             ///< How many the rule needs.
  bool stop_withheld = false;               ///< Its file asks for a job to be stopped, which only -p may.
  std::optional<ConfigurationError> error;  ///< What is wrong, with the place in the file.
  std::optional<HookConfig> job_hook = {};  ///< For --hook-config: what the job of its file has for one.

  /// The name in records.
  [[nodiscard]] const std::string& name() const noexcept {
    return configuration.name.empty() ? configuration.rule_to_invoke : configuration.name;
  }
  /// A rule of one's own. Precondition: no `error`. @throws ConfigurationError.
  [[nodiscard]] std::unique_ptr<Rule> make() const;
};

/// The rules that -r and -C ask for, in this order, with the parameters of -p and the trial of --other. Each is made
/// once to see what is wrong with it. A file that holds no rules is one request with an error; one that cannot be read
/// is reported and is none.
/// @throws UsageError for -p that fits no rule; for --hook-config, InvalidArgument for a DebugHookConfig that cannot
/// be.
[[nodiscard]] std::vector<RuleRequest> rule_requests(const RuleCommandOptions& options, Diagnostics& messages);

/// What a result of this request that triggered has to say of the stop withheld from it, in the words in which the rule
/// itself says that it stopped nothing; empty if there is none, or -p asked for one.
[[nodiscard]] std::string stop_not_performed(const RuleRequest& request, const RuleResult& result);

/// Says what is wrong with requests, and what of them is not done here; status 2 if something is wrong.
void report_requests(const std::vector<RuleRequest>& requests, const RuleCommandOptions& options,
                     Diagnostics& messages);

}  // namespace smd::tool::rule
