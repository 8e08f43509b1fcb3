// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/collection.hpp>
#include <smd/export.hpp>
#include <smd/rule.hpp>
#include <smd/rule_parameter.hpp>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace smd {

/// All that is known of a rule without running it.
struct RuleDescription {
  std::string name = {};        ///< `VanishingGradient`.
  std::string alias = {};       ///< `vanishing_gradient`; accepted wherever the name is.
  std::string summary = {};     ///< One line.
  std::string condition = {};   ///< The condition as a formula, and what it needs; several lines are allowed.
  std::string frameworks = {};  ///< `all`, `deep learning`, `XGBoost`, ….
  std::vector<std::string> collections = {};   ///< Collections that it looks at by default.
  std::vector<ParameterSpec> parameters = {};  ///< Its own; see `common_parameters` for those of every rule.
  std::size_t other_trials = 0;                ///< How many other trials it needs.
  bool watches_clock = false;  ///< While a job is followed, its results depend on the clock, and it cannot start again.
  std::string plugin = {};     ///< The plug-in that registered it; empty if it is built in or the program's own.
  /// Makes a rule, and checks what the table of parameters cannot express. @throws ConfigurationError.
  std::function<std::unique_ptr<Rule>(const Parameters&)> create = {};
  /// Returns the collections that a hook must save for the rule, limited to what it needs (`hook_config_for`). May be
  /// empty. Called with parameters that `create` accepts.
  std::function<std::vector<Collection>(const Parameters&)> saves = {};
};

/// Adds a rule of the program's own. Thread-safe. @throws InvalidArgument if the name or alias is taken or empty, a
/// parameter's name is empty or given twice, its default does not parse, or `create` is missing.
SMD_EXPORT void register_rule(RuleDescription description);

/// Returns the descriptions of all rules: the built-in ones in the order of the documentation, then others by
/// registration.
[[nodiscard]] SMD_EXPORT std::vector<RuleDescription> rule_descriptions();
/// Returns the rule with exactly this name or alias. @throws ConfigurationError (unknown_rule) with the nearest name.
[[nodiscard]] SMD_EXPORT RuleDescription describe_rule(std::string_view name_or_alias);
/// Returns what every rule accepts: `start_step`, `end_step`, and, without effect, `base_trial`, `rule_to_invoke`,
/// `action_json`.
[[nodiscard]] SMD_EXPORT std::vector<ParameterSpec> common_parameters();

/// Makes a rule that is ready for `Rule::set_trials`. @throws ConfigurationError.
[[nodiscard]] SMD_EXPORT std::unique_ptr<Rule> make_rule(std::string_view name_or_alias,
                                                         const ParameterTexts& parameters = {});

}  // namespace smd
