// SPDX-License-Identifier: Apache-2.0
#include "built_in/builtin.hpp"
#include "built_in/phases.hpp"

#include <cmath>

namespace smd::detail::rules {

namespace {

/// Returns by how much validation exceeds training, as a share of training.
double ratio_of(double training, double validation) {
  const double difference = validation - training;
  return difference == 0 ? 0 : difference / std::abs(training);  // of a training loss of 0: infinite
}

class Overfit final : public PhaseRule {
 public:
  explicit Overfit(const Parameters& parameters) : PhaseRule(parameters) {
    ignore_before(GlobalStep(parameters.integer("start_step")));
    warn_of_zeros();
  }

 private:
  std::optional<std::vector<Finding>> evaluate(const Phase& phase) override {
    if (!phase.training) {
      return std::nullopt;
    }
    const double ratio = ratio_of(*phase.training, phase.validation);
    const double threshold = parameters().number("ratio_threshold");
    measured().add(phase.tensors.validation, "ratio", "not compared", ratio);
    std::int64_t& exceeded = exceeded_[key_of(phase)];
    exceeded = ratio > threshold ? exceeded + 1 : 0;
    std::vector<Finding> findings;
    if (exceeded >= parameters().integer("patience")) {
      findings.push_back(finding_of(phase.tensors.validation, "ratio", ratio, ">", threshold));
    }
    return findings;
  }

  std::map<TensorPair, std::int64_t> exceeded_;  // successive phases
};

}  // namespace

RuleDescription overfit_rule() {
  return {
      .name = "Overfit",
      .summary = "the validation loss is well above the training loss",
      .condition =
          "per tensor, when a validation phase closes: (mean validation - mean training) / |mean training| > "
          "ratio_threshold, patience times in succession\n"
          "A phase is what EVAL steps there are before the next TRAIN step, or the end; training is what came since "
          "the phase before. At steps without a mode, each has train-X and validation-X (or valid-, val-, eval-, "
          "test-, dev-). The loss of a step is the mean over workers.\n"
          "In a log directory, at other steps without a mode, or with pairs: per pair of tensors, at each step at "
          "which that of validation has a "
          "value: this value against the mean of the training values since the pair's step before, up to this one.",
      .frameworks = "all",
      .collections = {"losses"},
      .parameters = {{"tensor_regex", Type::pattern_list, no_default,
                      "tensors of one element to look at instead of the collection losses; where names tell training "
                      "from validation, those of validation"},
                     pairs_parameter(),
                     at_least(0, {"start_step", Type::integer, "0", "global step; earlier steps are ignored"}),
                     at_least(1, {"patience", Type::integer, "1", "so many phases in succession trigger"}),
                     {"ratio_threshold", Type::number, "0.1",
                      "greatest tolerated difference, as a share of the training loss"}},
      .create = create<Overfit>,
      .saves =
          [](const Parameters& parameters) {
            const std::vector<std::string>& patterns = parameters.list("tensor_regex");
            return Collections{
                only_in({Mode::train, Mode::eval, Mode::global},
                        patterns.empty() ? collection_of("losses") : collection_of("overfit", patterns))};
          },
  };
}

}  // namespace smd::detail::rules
