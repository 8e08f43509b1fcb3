// SPDX-License-Identifier: Apache-2.0
#include "built_in/builtin.hpp"
#include "framework/common.hpp"
#include "framework/saves.hpp"

namespace smd::detail::rules {

namespace {

class TensorVariance final : public Rule {
 public:
  explicit TensorVariance(const Parameters& parameters)
      : Rule(parameters), tensors_(select(selection_of(parameters, false))) {
    if (parameters.has("max_threshold")) {
      max_ = parameters.number("max_threshold");
    }
    if (parameters.has("min_threshold")) {
      min_ = parameters.number("min_threshold");
    }
    require_selection(parameters);
    if (!max_ && !min_) {
      throw ConfigurationError(ConfigurationErrorKind::missing_parameter,
                               "nothing to check: give max_threshold, min_threshold or both", "max_threshold");
    }
  }

  void set_required_tensors(StepNeeds& step) override {
    for (const Unit& unit : step.units(tensors_)) {
      need_variance(step, unit);
    }
  }

  void invoke_at_step(StepView& step) override {
    for (const Unit& unit : step.units(tensors_)) {
      const std::optional<double> value = variance_of(step, unit);
      if (!value) {
        continue;
      }
      step.evaluated();
      if (max_ && *value > *max_) {
        step.trigger(unit, "max", *value, ">", *max_);
      }
      if (min_ && *value < *min_) {
        step.trigger(unit, "min", *value, "<", *min_);
      }
    }
  }

 private:
  SelectionId tensors_;
  std::optional<double> max_;
  std::optional<double> min_;
};

}  // namespace

RuleDescription tensor_variance_rule() {
  return {
      .name = "TensorVariance",
      .alias = "tensor_variance",
      .summary = "a variance lies above or below a bound",
      .condition =
          "per tensor and worker, v = mean((x - mean(x))^2): max: v > max_threshold; min: v < min_threshold\n"
          "The saved variance if there is one, else that of the raw value, else the saved std squared.",
      .frameworks = "all",
      .parameters = {collection_names_parameter("one of the two is required"),
                     tensor_regex_parameter("one of the two is required"),
                     {.name = "max_threshold",
                      .type = ParameterType::number,
                      .help = "variances above this trigger; at least one of the two is required"},
                     {.name = "min_threshold",
                      .type = ParameterType::number,
                      .help = "variances below this trigger; at least one of the two is required"}},
      .create = [](const Parameters& parameters) { return std::make_unique<TensorVariance>(parameters); },
      .saves = [](const Parameters& parameters) { return selected(parameters, "tensor_variance", {"variance"}); },
  };
}

}  // namespace smd::detail::rules
