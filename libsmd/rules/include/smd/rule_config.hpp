// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/evaluator.hpp>
#include <smd/export.hpp>
#include <smd/rule_parameter.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smd {

/// One of SageMaker's rule configurations, as far as it matters here.
struct RuleConfiguration {
  std::string name = {};            ///< RuleConfigurationName.
  std::string rule_to_invoke = {};  ///< The rule's name or alias; empty if it is missing.
  ParameterTexts parameters = {};   ///< The other RuleParameters, but `source_s3_uri` and `action_json`.
  std::string source_s3_uri = {};   ///< Not empty: a rule in Python, which is not evaluated here.
  std::string action_json = {};     ///< What the job was to do when the rule triggers; not performed.
  std::string position = {};        ///< Where it stands in the document: `DebugRuleConfigurations[2]`; may be empty.
  /// The CollectionConfigurations that stand beside it, as JSON: what the hook is to save for it; empty if there are
  /// none.
  std::string collection_configurations = {};
  /// What is wrong with it as a document (a number where text must be, no `rule_to_invoke`); the others still count.
  std::optional<ConfigurationError> error = {};
};

/// Configurations of a JSON document, in its order: one configuration, a list, a CreateTrainingJob request or
/// describe-training-job reply (`DebugRuleConfigurations`, `ProfilerRuleConfigurations`; none at all if the job has
/// neither), `DebugRuleConfiguration` or an object of such by name. Parameters that are lists may be JSON lists. Rules
/// of the profiler and rules that make reports have an `error` of the kind unsupported_rule.
/// @throws ConfigurationError (bad_config) if it is not JSON (with line and column) or has no rule configurations.
[[nodiscard]] SMD_EXPORT std::vector<RuleConfiguration> parse_rule_configurations(std::string_view json);

/// The rule of a configuration, checked as far as it goes without data. @throws ConfigurationError; of a rule that is
/// evaluated elsewhere with that kind. The message names the position.
[[nodiscard]] SMD_EXPORT std::unique_ptr<Rule> make_rule(const RuleConfiguration& configuration);

}  // namespace smd
