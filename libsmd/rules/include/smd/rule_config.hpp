// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/evaluator.hpp>
#include <smd/export.hpp>
#include <smd/rule_parameter.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smd {

/// The parts of a SageMaker rule configuration that matter here.
struct RuleConfiguration {
  std::string name = {};            ///< RuleConfigurationName.
  std::string rule_to_invoke = {};  ///< The rule's name or alias; empty if it is missing.
  ParameterTexts parameters = {};   ///< The other RuleParameters, except `source_s3_uri` and `action_json`.
  std::string source_s3_uri = {};   ///< Not empty: a rule in Python, evaluated only if a plug-in or `--python` has it.
  std::string action_json = {};     ///< What to do when the rule triggers; not performed.
  std::string position = {};        ///< Where it is in the document: `DebugRuleConfigurations[2]`; may be empty.
  /// The CollectionConfigurations beside it, as JSON, which say what the hook must save for it; empty if there are
  /// none.
  std::string collection_configurations = {};
  /// What is wrong with its JSON (a number instead of text, no `rule_to_invoke`). Other configurations are not
  /// affected.
  std::optional<ConfigurationError> error = {};
};

/// Returns the configurations of a JSON document, in its order: one configuration, a list, a CreateTrainingJob request
/// or describe-training-job reply (`DebugRuleConfigurations`, `ProfilerRuleConfigurations`; an empty result if the job
/// has neither), a `DebugRuleConfiguration`, or an object of these by name. Parameters that are lists may be JSON
/// lists. Rules of the profiler and rules that make reports have an `error` of the kind unsupported_rule.
/// @throws ConfigurationError (bad_config) if it is not JSON (with line and column) or has no rule configurations.
[[nodiscard]] SMD_EXPORT std::vector<RuleConfiguration> parse_rule_configurations(std::string_view json);

/// Makes the rule of a configuration, and checks it as far as possible without data. @throws ConfigurationError, whose
/// message names the position; its kind says if the rule is evaluated elsewhere.
[[nodiscard]] SMD_EXPORT std::unique_ptr<Rule> make_rule(const RuleConfiguration& configuration);

}  // namespace smd
