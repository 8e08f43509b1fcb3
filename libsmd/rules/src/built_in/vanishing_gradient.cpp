// SPDX-License-Identifier: Apache-2.0
#include "built_in/buckets.hpp"
#include "built_in/builtin.hpp"
#include "framework/common.hpp"
#include "framework/saves.hpp"

#include <string>
#include <utility>

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
      if (has_only_buckets(unit)) {
        need_buckets(step, unit);
      } else {
        step.measure(unit, abs_mean);
      }
    }
  }

  void invoke_at_step(StepView& step) override {
    for (const Unit& unit : step.units(gradients_)) {
      const bool bound = has_only_buckets(unit);
      const std::optional<double> mean = bound ? at_most(step, unit) : step.measure(unit, abs_mean);
      if (!mean) {
        continue;
      }
      step.evaluated();
      if (*mean < threshold_) {
        trigger(step, unit, *mean, bound);
      }
    }
  }

 private:
  static std::optional<double> at_most(StepView& step, const Unit& unit) {
    const std::optional<AbsMeanBounds> bounds = abs_mean_bounds(step, unit);
    return bounds ? std::optional(bounds->most) : std::nullopt;
  }

  void trigger(StepView& step, const Unit& unit, double mean, bool bound) const {
    Finding finding;
    finding.tensor = std::string(unit.tensor());
    finding.worker = std::string(unit.worker());
    finding.check = "abs_mean";
    finding.value = mean;
    finding.relation = "<";
    finding.threshold = threshold_;
    finding.message = finding_text(finding, bound ? "at most" : "");
    step.trigger(std::move(finding));
  }

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
          "The saved abs_mean is enough, else the raw value is read. Of a histogram: what the mean is at most, with "
          "each "
          "element at the edge of its bucket that is farther from 0, and edges cut to min and max.",
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
