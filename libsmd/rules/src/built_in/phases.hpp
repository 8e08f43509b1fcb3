// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "built_in/losses.hpp"

#include <smd/rule.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smd::detail::rules {

/// What a validation phase of one tensor came to; of a step without a mode, its losses of training and validation.
struct Phase {
  std::string tensor;              ///< That of the validation loss.
  std::optional<double> training;  ///< Mean of the training losses since the tensor's phase before, if there are any.
  double validation = 0;           ///< Mean of the phase.
  GlobalStep last_step = {};       ///< The tensor's last one in the phase.
  ModeStep last_mode_step = {};
};

/// Collects losses until validation phases close: at the next step of training, or at the end.
class Phases {
 public:
  /// Losses of a step, by tensor. Returns what closes with it, by tensor.
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

/// A rule that compares training with validation, whenever a validation phase closes.
class PhaseRule : public Rule {
 public:
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
  /// What triggers; nothing at all if the phase cannot be evaluated.
  [[nodiscard]] virtual std::optional<std::vector<MetCondition>> evaluate(const Phase& phase) = 0;

  void look_at(Losses losses) { losses_ = losses; }
  void ignore_before(GlobalStep start) { start_ = start; }

 private:
  Losses losses_;
  GlobalStep start_ = GlobalStep(0);
  Phases phases_;
  // Steps with losses.
  std::size_t training_steps_ = 0;
  std::size_t validation_steps_ = 0;
  std::size_t steps_without_mode_ = 0;
};

}  // namespace smd::detail::rules
