// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/export.hpp>
#include <smd/rule.hpp>
#include <smd/step.hpp>
#include <smd/tensor.hpp>
#include <smd/trial.hpp>
#include <smd/wait.hpp>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Rules as the reference's documentation writes them: they ask the trial, and answer true or false.
namespace smd {

/// The tensors that a `CustomRule` needs at a step, named in its `set_required_tensors`.
class SMD_EXPORT RequiredTensors {
 public:
  RequiredTensors(const RequiredTensors&) = delete;
  RequiredTensors& operator=(const RequiredTensors&) = delete;
  ~RequiredTensors();

  /// A tensor at global steps of a trial (null: the base trial). With `should_match_regex` all tensors in whose name
  /// the pattern `name` is found, which may be none.
  /// @throws TensorUnavailable if the trial has no tensor of that name; InvalidArgument, MatchLimit for the pattern.
  void add(std::string_view name, const std::vector<GlobalStep>& steps, const Trial* trial = nullptr,
           bool should_match_regex = false);

  /// The tensors of a trial (null: the base trial), in the order in which they were added, each once.
  [[nodiscard]] std::vector<Tensor> get(const Trial* trial = nullptr) const;
  /// Their names.
  [[nodiscard]] std::vector<std::string> get_names(const Trial* trial = nullptr) const;
  /// The steps at which one is needed; empty if it is not.
  [[nodiscard]] std::vector<GlobalStep> get_tensor_steps(std::string_view name, const Trial* trial = nullptr) const;

 private:
  friend class CustomRule;
  RequiredTensors();

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// A rule that queries its trials itself. To write one: derive, and answer in `invoke_at_step` whether the condition is
/// met at a step. To evaluate it: `invoke_rule(rule)`, or `Evaluator::add`: it is taken wherever a `Rule&` is. A `Rule`
/// proper shares what it reads with the other rules of an evaluation, and says which tensors meet the condition;
/// prefer it where many rules run.
///
///     class VanishingGradientRule final : public smd::CustomRule {
///      public:
///       using CustomRule::CustomRule;
///       bool invoke_at_step(smd::GlobalStep step) override {
///         for (const std::string& name : base_trial().tensor_names({.collections = {"gradients"}})) {
///           if (base_trial().tensor(name).reduction_value(step, "mean", true).item() < 1e-7) return true;
///         }
///         return false;
///       }
///     };
///
/// What it throws: TensorUnavailable, TensorUnavailableForStep and StepUnavailable skip the step
/// (`RuleResult::steps_skipped`); ReadError does too, and is a problem of the result; NoMoreData ends the rule;
/// anything else, StepNotYetAvailable among it, is its failure. `invoke_rule` lets the last two through to its caller.
///
/// While it is invoked, queries of its thread do not refresh its trials. Used by one thread at a time.
class SMD_EXPORT CustomRule {
 public:
  /// The trials are borrowed and outlive the rule. The action text is kept and given to the result; nothing performs
  /// it.
  explicit CustomRule(const Trial& base_trial, std::string action_str = {},
                      std::vector<const Trial*> other_trials = {});
  /// The trials are those of the evaluation: for rules that `register_rule` makes. See `to_rule`.
  CustomRule();
  CustomRule(const CustomRule&) = delete;
  CustomRule& operator=(const CustomRule&) = delete;
  virtual ~CustomRule();

  /// Says what the step needs, by `req_tensors().add`: the steps are waited for, as far as the evaluation waits, and
  /// the tensors must have been saved at them in some form. Otherwise `invoke_at_step` is not called: the step is
  /// skipped. Default: nothing.
  virtual void set_required_tensors(GlobalStep step);
  /// Whether the condition is met at a step.
  virtual bool invoke_at_step(GlobalStep step) = 0;

  /// Waits for a step and invokes the rule at it.
  /// @throws RuleEvaluationConditionMet if the condition is met; StepUnavailable, NoMoreData if the step never comes,
  /// StepNotYetAvailable if it did not come in time; and what the rule throws.
  void invoke(GlobalStep step, const WaitOptions& wait = {});

  /// Precondition: it has one, as it does while it is invoked.
  [[nodiscard]] const Trial& base_trial() const noexcept;
  [[nodiscard]] std::span<const Trial* const> other_trials() const noexcept;
  [[nodiscard]] RequiredTensors& req_tensors() noexcept;
  [[nodiscard]] const std::string& action_str() const noexcept;
  /// The name of the class, without its namespace.
  [[nodiscard]] std::string rule_name() const;

  /// The same rule for an evaluation; lives as long as this object.
  operator Rule&();  // NOLINT(google-explicit-constructor): it is one

  /// For the library's own use.
  struct Impl;

 private:
  friend SMD_EXPORT std::unique_ptr<Rule> to_rule(std::unique_ptr<CustomRule> rule);
  std::unique_ptr<Impl> impl_;
};

/// For `RuleDescription::create`: a rule that owns a custom one.
[[nodiscard]] SMD_EXPORT std::unique_ptr<Rule> to_rule(std::unique_ptr<CustomRule> rule);

}  // namespace smd
