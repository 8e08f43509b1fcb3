// SPDX-License-Identifier: Apache-2.0
#include "built_in/builtin.hpp"

namespace smd::detail::rules {

namespace {

class TensorVariance final : public UnitRule {
 public:
  explicit TensorVariance(const Parameters& parameters) : UnitRule(parameters, required_selection(parameters)) {
    if (!parameters.has("max_threshold") && !parameters.has("min_threshold")) {
      throw ConfigurationError(ConfigurationErrorKind::missing_parameter,
                               "nothing to check: give max_threshold, min_threshold or both", "max_threshold");
    }
  }

  void summarize(RuleSummary& summary) override { measured_.summarize(summary); }

 private:
  void need(StepNeeds& step, const Unit& unit) override { need_variance(step, unit); }

  void evaluate(StepView& step, const Unit& unit) override {
    if (const std::optional<double> value = variance_of(step, unit)) {
      measured_.add(unit.tensor(), "variance", "not compared", *value);
      if (parameters().has("max_threshold")) {
        trigger_if(step, unit, "max", *value, ">", parameters().number("max_threshold"));
      }
      if (parameters().has("min_threshold")) {
        trigger_if(step, unit, "min", *value, "<", parameters().number("min_threshold"));
      }
    }
  }

  NanCounts measured_;
};

}  // namespace

RuleDescription tensor_variance_rule() {
  return {
      .name = "TensorVariance",
      .summary = "a variance lies above or below a bound",
      .condition =
          "per tensor and worker, v = mean((x - mean(x))^2): max: v > max_threshold; min: v < min_threshold\n"
          "The saved variance if there is one, else that of the raw value, else the saved std squared.",
      .frameworks = "all",
      .parameters = {collection_names_parameter(),
                     tensor_regex_parameter(),
                     {"max_threshold", Type::number, no_default,
                      "variances above this trigger; at least one of the two is required"},
                     {"min_threshold", Type::number, no_default,
                      "variances below this trigger; at least one of the two is required"}},
      .create = create<TensorVariance>,
      .saves = [](const Parameters& parameters) { return selected(parameters, "tensor_variance", {"variance"}); },
  };
}

}  // namespace smd::detail::rules
