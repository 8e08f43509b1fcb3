// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "built_in/losses.hpp"
#include "built_in/paired_losses.hpp"
#include "built_in/zero_losses.hpp"

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

/// What a validation phase of one tensor came to; of a step without a mode, its losses of training and validation; or
/// one observation of a pair.
struct Phase {
  TensorPair tensors;              ///< Where modes tell training from validation, the same one twice.
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

/// A rule that compares training with validation: whenever a validation phase closes, or, where pairs are said or names
/// must tell, whenever a validation tensor has a value.
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
  /// What triggers; nothing at all if the phase cannot be evaluated.
  [[nodiscard]] virtual std::optional<std::vector<MetCondition>> evaluate(const Phase& phase) = 0;

  void ignore_before(GlobalStep start) { start_ = start; }
  void warn_of_zeros() { zeros_.emplace(); }
  /// Nothing stands in for the collection losses.
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
  // Steps with losses.
  std::size_t training_steps_ = 0;
  std::size_t validation_steps_ = 0;
  std::size_t steps_without_mode_ = 0;
};

}  // namespace smd::detail::rules
