// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/rule_config.hpp>
#include <smd/rule_registry.hpp>

#include <optional>
#include <string>

/// Rules of SageMaker's jobs that the library does not evaluate.
namespace smd::detail::rules {

/// Returns the rule with this name or alias; nullopt if there is none.
[[nodiscard]] std::optional<RuleDescription> known_rule(const std::string& name);

/// Returns why a configuration is evaluated elsewhere, whatever else is wrong with it; nullopt if it is evaluated here.
/// `image`: its RuleEvaluatorImage.
[[nodiscard]] std::optional<ConfigurationError> elsewhere(const RuleConfiguration& configuration,
                                                          const std::string& image);

}  // namespace smd::detail::rules
