// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_line.hpp"
#include "cli/diagnostics.hpp"

#include <smd/hook_config.hpp>
#include <smd/rule.hpp>
#include <smd/rule_config.hpp>
#include <smd/rule_registry.hpp>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smd::tool {

/// The heading of the options about rules.
inline constexpr std::string_view rules_group = "Rules";

/// `-p K=V` or `-p RULE.K=V`.
struct ParameterOption {
  std::string rule;  ///< Empty: the only rule.
  std::string name;
  std::string value;
};

/// The options that choose rules, as an option table and as their values.
struct RuleOptions {
  std::vector<std::string> rules;           ///< -r
  std::vector<ParameterOption> parameters;  ///< -p
  std::vector<std::string> configs;         ///< -C

  /// -r -p -C.
  static std::span<const OptionSpec> table() noexcept;
  /// @throws UsageError.
  static RuleOptions from(const CommandLine& line);

  /// Whether no rule is chosen.
  [[nodiscard]] bool empty() const noexcept { return rules.empty() && configs.empty(); }
};

// Parameters of rules that commands deal with.
inline constexpr std::string_view other_parameter = "other_trial";
inline constexpr std::string_view stop_parameter = "stop_training_on_fire";
inline constexpr std::string_view prefix_parameter = "training_job_name_prefix";

/// The rule with this name or alias, or nullopt if no such rule exists.
[[nodiscard]] std::optional<RuleDescription> rule_named(std::string_view name);

/// A request to evaluate one rule, from -r or from a file.
struct RuleRequest {
  RuleConfiguration configuration;          ///< Its name is empty for -r.
  std::string file = {};                    ///< Empty for -r.
  std::size_t other_trials = 0;             ///< How many the rule needs.
  bool stop_withheld = false;               ///< Its file asks for a job to be stopped, which only -p may.
  std::optional<ConfigurationError> error;  ///< What is wrong, with the place in the file.
  std::optional<HookConfig> job_hook = {};  ///< For --hook-config: the hook configuration in its file.

  /// The name in records.
  [[nodiscard]] const std::string& name() const noexcept {
    return configuration.name.empty() ? configuration.rule_to_invoke : configuration.name;
  }
  /// Makes a new rule for `EvaluationOptions::make_again`; null for one that watches the clock, which goes on.
  /// Precondition: no `error`. @throws ConfigurationError.
  [[nodiscard]] std::unique_ptr<Rule> make_again() const;
};

/// A rule that an option adds, or that it would have added with what is wrong.
struct AddedRule {
  std::string name;
  std::optional<ConfigurationError> error;
};

/// What determines requests besides the options that choose rules.
struct RequestOptions {
  std::vector<AddedRule> added = {};      ///< --python: evaluated too unless -r or -C names them.
  std::optional<std::string> other = {};  ///< --other
  bool for_hook = false;                  ///< The command asks what must be saved for the rules (--hook-config).
};

/// The rules that -r and -C ask for, in this order, with the parameters of -p and the trial of --other. Each is made
/// once to see what is wrong with it. A file that holds no rules is one request with an error; one that cannot be read
/// is reported and gives no request.
/// @throws UsageError for -p that fits no rule; for --hook-config, InvalidArgument for an invalid DebugHookConfig.
[[nodiscard]] std::vector<RuleRequest> rule_requests(const RuleOptions& options, const RequestOptions& more,
                                                     Diagnostics& messages);

}  // namespace smd::tool
