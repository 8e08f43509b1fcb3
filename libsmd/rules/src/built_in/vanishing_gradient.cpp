// SPDX-License-Identifier: Apache-2.0
#include "built_in/builtin.hpp"
#include "framework/saves.hpp"

namespace smd::detail::rules {

namespace {

constexpr Reduction abs_mean{.kind = ReductionKind::mean, .abs = true};

class VanishingGradient final : public Rule {
 public:
  explicit VanishingGradient(const Parameters& parameters)
      : Rule(parameters),
        gradients_(select({.collections = {"gradients"}})),
        threshold_(parameters.number("threshold")) {}

  void set_required_tensors(StepNeeds& step) override {
    for (const Unit& unit : step.units(gradients_)) {
      step.measure(unit, abs_mean);
    }
  }

  void invoke_at_step(StepView& step) override {
    for (const Unit& unit : step.units(gradients_)) {
      const std::optional<double> mean = step.measure(unit, abs_mean);
      if (!mean) {
        continue;
      }
      step.evaluated();
      if (*mean < threshold_) {
        step.trigger(unit, "abs_mean", *mean, "<", threshold_);
      }
    }
  }

 private:
  SelectionId gradients_;
  double threshold_;
};

}  // namespace

RuleDescription vanishing_gradient_rule() {
  return {
      .name = "VanishingGradient",
      .alias = "vanishing_gradient",
      .summary = "the mean absolute gradient is close to zero",
      .condition =
          "per tensor and worker: mean(|g|) < threshold\n"
          "The saved abs_mean is enough, else the raw value is read.",
      .frameworks = "deep learning",
      .collections = {"gradients"},
      .parameters = {{.name = "threshold",
                      .type = ParameterType::number,
                      .default_text = "0.0000001",
                      .help = "mean absolute gradients below this trigger"}},
      .create = [](const Parameters& parameters) { return std::make_unique<VanishingGradient>(parameters); },
      .saves =
          [](const Parameters& /*parameters*/) {
            return Collections{reduced(collection_of("gradients"), {"abs_mean"})};
          },
  };
}

}  // namespace smd::detail::rules
