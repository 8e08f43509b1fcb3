// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "built_in/losses.hpp"
#include "built_in/paired_losses.hpp"

#include <smd/rule.hpp>
#include <smd/rule_result.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smd::detail::rules {

/// The means of one tensor's validation phase; the training and validation losses of a step without a mode; or one
/// observation of a pair.
struct Phase {
  TensorPair tensors;              ///< The same tensor twice if modes tell training from validation.
  std::optional<double> training;  ///< Mean of the training losses since the previous phase, if any.
  double validation = 0;           ///< Mean of the phase.
  GlobalStep last_step = {};       ///< The tensor's last step in the phase.
  ModeStep last_mode_step = {};
};

/// Collects losses until validation phases close: at the next step of training, or at the end.
class Phases {
 public:
  /// Adds the losses of a step, by tensor. Returns the phases that the step closes, by tensor.
  [[nodiscard]] std::vector<Phase> add(const StepTensors& step, const std::map<std::string, double>& losses);
  [[nodiscard]] std::vector<Phase> close();

 private:
  struct Sum {
    double sum = 0;
    std::size_t count = 0;

    void add(double value);
    [[nodiscard]] double mean() const;
  };
  struct Open {
    Sum training;
    Sum validation;
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
  using Rule::Rule;

  struct MetCondition {
    std::string_view check;
    double value;
    std::string_view relation;
    double threshold;
  };
  /// Returns the conditions that the phase meets; nullopt if the phase cannot be evaluated.
  [[nodiscard]] virtual std::optional<std::vector<MetCondition>> evaluate(const Phase& phase) = 0;

  void ignore_before(GlobalStep start) { start_ = start; }
  void warn_of_zeros() { zeros_.emplace(); }
  /// Only tensors of the collection losses count as losses.
  void look_only_at_losses() { only_losses_ = true; }

 private:
  [[nodiscard]] bool looks_at(const StepTensors& step) const;
  [[nodiscard]] std::vector<Phase> phases_at(StepView& step);

  [[nodiscard]] static Finding finding(const Phase& phase, const MetCondition& condition);

  bool only_losses_ = false;
  Losses losses_;
  std::optional<PairedLosses> pairs_;
  std::optional<ZeroLosses> zeros_;
  GlobalStep start_ = GlobalStep(0);
  Phases phases_;
  // Numbers of steps with losses:
  std::size_t training_steps_ = 0;
  std::size_t validation_steps_ = 0;
  std::size_t steps_without_mode_ = 0;
};

}  // namespace smd::detail::rules
