// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "framework/common.hpp"

#include <smd/hook_config.hpp>
#include <smd/rule.hpp>
#include <smd/rule_registry.hpp>

#include <cstddef>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

/// The built-in rules, each described by a function in a file of its own, and what several of them share.
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

/// The `create` of a description.
template <class SomeRule>
std::unique_ptr<Rule> create(const Parameters& parameters) {
  return std::make_unique<SomeRule>(parameters);
}

// A table of parameters has rows of name, type, default, help, and whether it is required.
using Type = ParameterType;
inline constexpr std::nullopt_t no_default = std::nullopt;
using Texts = std::vector<std::string>;
[[nodiscard]] ParameterSpec at_least(double least, ParameterSpec spec);
[[nodiscard]] ParameterSpec between(double least, double most, ParameterSpec spec);
[[nodiscard]] ParameterSpec within(double low, double high, ParameterSpec spec);  ///< The bounds are not valid.
[[nodiscard]] ParameterSpec one_of(Texts choices, ParameterSpec spec);
/// The parameters `collection_names` and `tensor_regex`; `help` is added to their help texts.
[[nodiscard]] ParameterSpec collection_names_parameter(std::string_view help = "one of the two is required");
[[nodiscard]] ParameterSpec tensor_regex_parameter(std::string_view help = "one of the two is required");

/// Returns the selection that these two parameters make. If neither is given, every tensor if `all_by_default`.
[[nodiscard]] TensorSelection selection_of(const Parameters& parameters, bool all_by_default);
/// As above, of a rule that requires one of the two. @throws ConfigurationError (missing_parameter).
[[nodiscard]] TensorSelection required_selection(const Parameters& parameters);

/// A rule that looks at each unit of a selection by itself.
class UnitRule : public Rule {
 public:
  void set_required_tensors(StepNeeds& step) final;
  void invoke_at_step(StepView& step) final;

 protected:
  UnitRule(const Parameters& parameters, TensorSelection selection)
      : Rule(parameters), selection_(select(std::move(selection))) {}

  [[nodiscard]] virtual bool looks_at(const StepTensors& /*step*/) const { return true; }
  /// Requests what `evaluate` needs. The default is the raw value.
  virtual void need(StepNeeds& step, const Unit& unit) { step.value(unit); }
  virtual void evaluate(StepView& step, const Unit& unit) = 0;
  [[nodiscard]] SelectionId selection() const noexcept { return selection_; }

 private:
  SelectionId selection_;
};

/// Counts what a rule measures, for a warning of what is NaN and meets no condition.
class NanCounts {
 public:
  void add(std::string_view tensor, const char* noun, const char* consequence, double measured);
  /// Warns of each tensor with NaN: `val_loss: 3 of 30 ratios are NaN: not compared`. If all numbers of all tensors are
  /// NaN, nothing was evaluated.
  void summarize(RuleSummary& summary) const;

 private:
  // By the words of `add`: how many numbers were measured, and how many of them are NaN.
  std::map<std::tuple<std::string, std::string, std::string>, std::pair<std::size_t, std::size_t>> counts_;
};

/// Requests the raw values of all units of some selections.
void need_values(StepNeeds& step, std::initializer_list<SelectionId> selections);

/// Returns whether weights may change at a step: they do not between steps of evaluation.
[[nodiscard]] inline bool is_training(const StepTensors& step) noexcept {
  return step.mode() == Mode::train || step.mode() == Mode::global;
}

/// The variance of a unit: the saved one, else computed of the raw value, else the saved std squared.
void need_variance(StepNeeds& step, const Unit& unit);
[[nodiscard]] std::optional<double> variance_of(const StepView& step, const Unit& unit);

/// Makes the rule that compares a reduction of each unit with its parameter `threshold`. It triggers once the condition
/// is met at `for_steps` successive steps of `mode` (global: of each mode).
[[nodiscard]] std::unique_ptr<Rule> make_threshold_rule(const Parameters& parameters, TensorSelection selection,
                                                        const Reduction& reduction, std::string relation,
                                                        Mode mode = Mode::global, std::int64_t for_steps = 1);

using Collections = std::vector<Collection>;

/// Returns a collection of a built-in collection's tensors, and of those in whose names a pattern is found.
[[nodiscard]] Collection collection_of(std::string name, Texts patterns = {});
/// Returns the collection with only these reductions of its tensors.
[[nodiscard]] Collection reduced(Collection collection, Texts reductions);
/// Returns the collection, saved only at steps of these modes.
[[nodiscard]] Collection only_in(std::initializer_list<Mode> modes, Collection collection);

/// Returns the collections, saved only at steps of the mode that the parameter `mode` names, if it names one.
[[nodiscard]] Collections only_in_mode(const Parameters& parameters, Collections collections);

/// Returns the collections that the parameters `collection_names` and `tensor_regex` select. Patterns make a collection
/// named `own`. If neither is given, returns a collection of every tensor named `everything`; none if `everything` is
/// empty. Saves only `reductions`; if they are empty, the tensors themselves.
[[nodiscard]] Collections selected(const Parameters& parameters, const std::string& own, const Texts& reductions = {},
                                   const std::string& everything = {});

/// The `saves` of a description: the same collection whatever the parameters are.
[[nodiscard]] inline auto saves_always(Collection collection) {
  return [collection = std::move(collection)](const Parameters&) { return Collections{collection}; };
}

/// The `saves` of a description: a collection of the tensors in whose names a pattern of a parameter is found.
/// `patterns` is `&Parameters::text` for one pattern, `&Parameters::list` for several.
template <class Patterns>
[[nodiscard]] auto saves_matching(const char* collection, Patterns patterns, const char* parameter) {
  return [=](const Parameters& parameters) {
    return Collections{collection_of(collection, Texts{(parameters.*patterns)(parameter)})};
  };
}

}  // namespace smd::detail::rules
