// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "built_in/builtin.hpp"
#include "built_in/losses.hpp"
#include "framework/sides.hpp"

#include <smd/rule.hpp>
#include <smd/rule_parameter.hpp>
#include <smd/rule_result.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace smd::detail::rules {

/// Returns the parameter `pairs` of rules that compare training with validation.
[[nodiscard]] ParameterSpec pairs_parameter();

/// The means of one tensor's validation phase; the training and validation losses of a step without a mode; or those of
/// a pair at a step at which its validation tensor has a value.
struct Phase {
  TensorPair tensors;              ///< The same tensor twice if modes tell training from validation.
  std::optional<double> training;  ///< Mean of the training losses since the previous phase, if any.
  double validation = 0;           ///< Mean of the phase.
  GlobalStep last_step = {};       ///< The tensor's last step in the phase.
  ModeStep last_mode_step = {};
};

/// The tensors that are compared, and their values since the last observation. If steps have modes, training values are
/// not taken from EVAL steps, nor validation values from TRAIN steps.
class PairedLosses {
 public:
  /// Makes pairs from names: of a validation name in `chosen` and a training name, which must be in `chosen` too unless
  /// `any_partner`.
  PairedLosses(SelectionId chosen, bool any_partner) : chosen_(chosen), any_partner_(any_partner) {}
  /// Makes the pairs that items of the parameter state.
  explicit PairedLosses(std::vector<std::string> items) : items_(std::move(items)) {}

  void need(StepNeeds& step);
  /// Returns the phases that the step completes. `zeros`, if given, sees each value.
  [[nodiscard]] std::vector<Phase> add(StepView& step, ZeroLosses* zeros);

  /// Returns why nothing was compared; empty if the selection explains it. Warns if there was no loss, but names of
  /// other tensors make pairs.
  [[nodiscard]] std::string why_nothing(RuleSummary& summary) const;
  /// Returns a text for each stated name that the trial does not have: `no tensor 'val_los' was saved; similar names:
  /// val_loss`.
  [[nodiscard]] const std::vector<std::string>& absent() const noexcept { return absent_; }

 private:
  /// Makes the pairs again if the names have changed. Asks to begin again if a pair no longer is one, or a tensor
  /// saved before gets another partner.
  void resolve(const StepTensors& step);
  void pair_by_sides(const StepTensors& step, const Sides& sides, const TrialSnapshot& snapshot);
  void pair_as_said(const TrialSnapshot& snapshot);

  std::optional<SelectionId> chosen_;  // nullopt: the pairs are stated
  bool any_partner_ = false;
  std::vector<std::string> items_;

  std::vector<TensorPair> pairs_;    // by validation, or in the order stated
  std::vector<std::string> absent_;  // see `absent`
  std::vector<std::string> others_;  // pairs of which not both are chosen
  /// What `pairs_` was made from: `EvaluatedTrial::names`, and how many tensors there were.
  std::optional<std::pair<std::uint64_t, std::size_t>> resolved_;
  std::map<TensorPair, Mean> since_;  // training values since the last observation, by each pair known so far
};

/// Collects losses until validation phases close: at the next step of training, or at the end.
class Phases {
 public:
  /// Adds the losses of a step, by tensor. Returns the phases that the step closes, by tensor.
  [[nodiscard]] std::vector<Phase> add(const StepTensors& step, const std::map<std::string, double>& losses);
  [[nodiscard]] std::vector<Phase> close();

 private:
  struct Open {
    Mean training;
    Mean validation;
    GlobalStep last_step;
    ModeStep last_mode_step;
  };
  std::map<std::string, Open> open_;  // by tensor
};

/// A rule that compares training with validation: whenever a validation phase closes, or, if pairs are stated or names
/// tell training from validation, whenever a validation tensor has a value.
class PhaseRule : public Rule {
 public:
  void begin() final;
  void set_required_tensors(StepNeeds& step) final;
  void invoke_at_step(StepView& step) final;
  void at_end(RuleEnd& end) final;
  void summarize(RuleSummary& summary) final;

 protected:
  /// @throws ConfigurationError (bad_value) for an item of `pairs` that cannot be a pair.
  explicit PhaseRule(const Parameters& parameters);

  /// Returns the findings of a phase, without their step; nullopt if the phase cannot be evaluated.
  [[nodiscard]] virtual std::optional<std::vector<Finding>> evaluate(const Phase& phase) = 0;

  /// Returns the key under which a rule keeps its state from one phase to the next: the validation tensor alone, which
  /// may have phases with and without a mode; if tensors are compared by pairs, the pair, because several pairs may
  /// have the same validation tensor.
  [[nodiscard]] TensorPair key_of(const Phase& phase) const {
    return pairs_ ? phase.tensors : TensorPair{phase.tensors.validation, phase.tensors.validation};
  }

  [[nodiscard]] NanCounts& measured() noexcept { return measured_; }
  void ignore_before(GlobalStep start) { start_ = start; }
  void warn_of_zeros() { zeros_.emplace(); }
  /// Only tensors of the collection losses count as losses.
  void look_only_at_losses() { only_losses_ = true; }

 private:
  [[nodiscard]] bool looks_at(const StepTensors& step) const;
  [[nodiscard]] std::vector<Phase> phases_at(StepView& step);

  /// Evaluates phases; passes the findings, without a step, to `found`.
  template <class Place, class Found>
  void evaluate_all(Place& place, const std::vector<Phase>& phases, const Found& found);

  bool only_losses_ = false;
  Losses losses_;
  std::optional<PairedLosses> pairs_;
  std::optional<PairedLosses> without_mode_;  // without `pairs_`: for steps without a mode that XGBoost did not name
  std::optional<ZeroLosses> zeros_;
  GlobalStep start_ = GlobalStep(0);
  bool started_ = false;  // the last step was not before `start_`
  Phases phases_;
  // Numbers of steps with losses:
  std::size_t training_steps_ = 0;
  std::size_t validation_steps_ = 0;
  std::size_t steps_without_mode_ = 0;
  NanCounts measured_;
};

}  // namespace smd::detail::rules
