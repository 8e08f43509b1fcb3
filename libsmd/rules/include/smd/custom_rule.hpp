// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/export.hpp>
#include <smd/rule.hpp>
#include <smd/step.hpp>
#include <smd/tensor.hpp>
#include <smd/trial.hpp>
#include <smd/trial_options.hpp>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Rules in the form of the reference's documentation: they query the trial, and return true or false.
namespace smd {

/// The tensors that a `CustomRule` needs at a step, which its `set_required_tensors` adds.
class SMD_EXPORT RequiredTensors {
 public:
  RequiredTensors(const RequiredTensors&) = delete;
  RequiredTensors& operator=(const RequiredTensors&) = delete;
  ~RequiredTensors();

  /// Adds a tensor at global steps of a trial (null: the base trial). With `should_match_regex`, adds all tensors,
  /// possibly none, in whose names the pattern `name` is found.
  /// @throws TensorUnavailable if the trial has no tensor of that name; InvalidArgument, MatchLimit for the pattern.
  void add(std::string_view name, const std::vector<GlobalStep>& steps, const Trial* trial = nullptr,
           bool should_match_regex = false);

  /// Returns the tensors of a trial (null: the base trial), in the order in which they were added, each once.
  [[nodiscard]] std::vector<Tensor> get(const Trial* trial = nullptr) const;
  /// Returns the names of these tensors.
  [[nodiscard]] std::vector<std::string> get_names(const Trial* trial = nullptr) const;
  /// Returns the steps at which a tensor is needed; empty if it is not needed.
  [[nodiscard]] std::vector<GlobalStep> get_tensor_steps(std::string_view name, const Trial* trial = nullptr) const;

 private:
  friend class CustomRule;
  RequiredTensors();

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// A rule that queries its trials itself. To write one, derive from this class, and return from `invoke_at_step`
/// whether the condition is met at a step. To evaluate it, call `invoke_rule(rule)` or `Evaluator::add`: it converts to
/// `Rule&`. A class derived from `Rule` shares what it reads with the other rules of an evaluation, and says which
/// tensors meet the condition; prefer it if many rules run.
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
/// If it throws TensorUnavailable, TensorUnavailableForStep or StepUnavailable, the step is skipped
/// (`RuleResult::steps_skipped`); ReadError also skips the step, and is a problem of the result; NoMoreData about
/// the step ends the rule, about a later step it skips the step; any other exception, including StepNotYetAvailable, is
/// a failure of the rule. `invoke_rule` passes NoMoreData and these other exceptions on to its caller.
///
/// During its invocation, queries of its thread do not refresh its trials. For use by one thread at a time.
class SMD_EXPORT CustomRule {
 public:
  /// Borrows the trials, which must outlive the rule. The action text is passed on to the result; it is not performed.
  explicit CustomRule(const Trial& base_trial, std::string action_str = {},
                      std::vector<const Trial*> other_trials = {});
  /// Takes the trials of the evaluation: for rules made through `register_rule`. See `to_rule`.
  CustomRule();
  CustomRule(const CustomRule&) = delete;
  CustomRule& operator=(const CustomRule&) = delete;
  virtual ~CustomRule();

  /// Declares, by `req_tensors().add`, what the step needs. The evaluation waits for the steps, if it waits at all.
  /// `invoke_at_step` is called only if the tensors were saved at them in some form; otherwise the step is skipped. The
  /// default needs nothing.
  virtual void set_required_tensors(GlobalStep step);
  /// Returns whether the condition is met at a step.
  virtual bool invoke_at_step(GlobalStep step) = 0;

  /// Waits for a step and invokes the rule at it.
  /// @throws RuleEvaluationConditionMet if the condition is met; StepUnavailable or NoMoreData if the step will never
  /// be available, StepNotYetAvailable if it was not available in time; and what the rule throws.
  void invoke(GlobalStep step, const WaitOptions& wait = {});

  /// Precondition: the rule has a base trial, as it does during its invocation.
  [[nodiscard]] const Trial& base_trial() const noexcept;
  [[nodiscard]] std::span<const Trial* const> other_trials() const noexcept;
  [[nodiscard]] RequiredTensors& req_tensors() noexcept;
  [[nodiscard]] const std::string& action_str() const noexcept;
  /// Returns the name of the class, without its namespace.
  [[nodiscard]] std::string rule_name() const;

  /// Returns this rule in the form that an evaluation takes; valid as long as this object.
  operator Rule&();  // NOLINT(google-explicit-constructor): it is one

  /// For the library's own use.
  struct Impl;

 private:
  friend SMD_EXPORT std::unique_ptr<Rule> to_rule(std::unique_ptr<CustomRule> rule);
  std::unique_ptr<Impl> impl_;
};

/// Returns a rule that owns a custom rule, for `RuleDescription::create`.
[[nodiscard]] SMD_EXPORT std::unique_ptr<Rule> to_rule(std::unique_ptr<CustomRule> rule);

}  // namespace smd
