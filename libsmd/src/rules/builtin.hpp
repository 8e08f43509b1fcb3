// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/rule_registry.hpp>

/// The built-in rules, each described by a function in a file of its own.
namespace smd::detail::rules {

// In the order of the documentation. To add a rule: a file with `RuleDescription NAME_rule()`, and a line here.
#define SMD_BUILTIN_RULES(X) X(vanishing_gradient)

#define SMD_DECLARE_RULE(name) [[nodiscard]] RuleDescription name##_rule();
SMD_BUILTIN_RULES(SMD_DECLARE_RULE)
#undef SMD_DECLARE_RULE

}  // namespace smd::detail::rules
