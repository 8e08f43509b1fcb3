// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/rule_registry.hpp>

/// The built-in rules, each described by a function in a file of its own.
namespace smd::detail::rules {

// clang-format off
// In the order of the documentation. To add a rule: a file with `RuleDescription NAME_rule()`, and a line here.
#define SMD_BUILTIN_RULES(X) \
  X(dead_relu) \
  X(exploding_tensor) \
  X(poor_weight_initialization) \
  X(saturated_activation) \
  X(vanishing_gradient) \
  X(weight_update_ratio) \
  X(all_zero) \
  X(class_imbalance) \
  X(loss_not_decreasing) \
  X(overfit) \
  X(overtraining) \
  X(similar_across_runs) \
  X(stalled_training_rule) \
  X(tensor_variance) \
  X(unchanged_tensor) \
  X(check_input_images) \
  X(nlp_sequence_ratio) \
  X(confusion) \
  X(feature_importance_overweight) \
  X(tree_depth) \
  X(threshold)
// clang-format on

#define SMD_DECLARE_RULE(name) [[nodiscard]] RuleDescription name##_rule();
SMD_BUILTIN_RULES(SMD_DECLARE_RULE)
#undef SMD_DECLARE_RULE

}  // namespace smd::detail::rules
