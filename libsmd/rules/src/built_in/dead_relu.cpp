// SPDX-License-Identifier: Apache-2.0
#include "built_in/builtin.hpp"
#include "built_in/scans.hpp"

namespace smd::detail::rules {

namespace {

class DeadRelu final : public UnitRule {
 public:
  explicit DeadRelu(const Parameters& parameters) : UnitRule(parameters, {.regex = parameters.list("tensor_regex")}) {}

 private:
  void evaluate(StepView& step, const Unit& unit) override {
    if (const TensorValue* const value = step.value(unit)) {
      const double dead = inactive_percent(value->view(), 0, std::nullopt, parameters().number("threshold_inactivity"));
      trigger_if(step, unit, "dead_percent", dead, ">", parameters().number("threshold_layer"));
    }
  }
};

}  // namespace

RuleDescription dead_relu_rule() {
  return {
      .name = "DeadRelu",
      .summary = "most nodes of a layer are almost never above zero",
      .condition =
          "per tensor and worker, axis 0 the samples and every position of the other axes a node:\n"
          "dead(node): 100 x #{samples : x > 0} / #samples < threshold_inactivity\n"
          "100 x #{dead nodes} / #nodes > threshold_layer\n"
          "Needs raw values.",
      .frameworks = "deep learning",
      .parameters = {{"tensor_regex", Type::pattern_list, ".*relu_output", "tensors to look at, by name"},
                     {"threshold_inactivity", Type::number, "1.0",
                      "percentage of active samples below which a node is dead"},
                     {"threshold_layer", Type::number, "50.0",
                      "percentage of dead nodes above which a layer triggers"}},
      .create = create<DeadRelu>,
      .saves = saves_matching("relu_output", &Parameters::list, "tensor_regex"),
  };
}

}  // namespace smd::detail::rules
