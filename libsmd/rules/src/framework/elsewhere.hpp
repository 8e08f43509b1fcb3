// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/rule_config.hpp>
#include <smd/rule_registry.hpp>

#include <optional>
#include <string>

/// Rules in the files of SageMaker's jobs that are not for this library.
namespace smd::detail::rules {

/// By name or alias; nothing if there is no such rule here.
[[nodiscard]] std::optional<RuleDescription> known_rule(const std::string& name);

/// Why a configuration is evaluated elsewhere, whatever else is wrong with it; nothing if it is evaluated here.
/// `image`: its RuleEvaluatorImage.
[[nodiscard]] std::optional<ConfigurationError> elsewhere(const RuleConfiguration& configuration,
                                                          const std::string& image);

}  // namespace smd::detail::rules
