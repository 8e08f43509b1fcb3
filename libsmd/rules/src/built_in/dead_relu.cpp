// SPDX-License-Identifier: Apache-2.0
#include "built_in/builtin.hpp"
#include "built_in/scans.hpp"
#include "framework/saves.hpp"

namespace smd::detail::rules {

namespace {

class DeadRelu final : public Rule {
 public:
  explicit DeadRelu(const Parameters& parameters)
      : Rule(parameters),
        outputs_(select({.regex = parameters.list("tensor_regex")})),
        inactivity_(parameters.number("threshold_inactivity")),
        layer_(parameters.number("threshold_layer")) {}

  void set_required_tensors(StepNeeds& step) override {
    for (const Unit& unit : step.units(outputs_)) {
      step.value(unit);
    }
  }

  void invoke_at_step(StepView& step) override {
    for (const Unit& unit : step.units(outputs_)) {
      const TensorValue* const value = step.value(unit);
      if (value == nullptr) {
        continue;
      }
      step.evaluated();
      const double dead = inactive_percent(value->view(), 0, std::nullopt, inactivity_);
      if (dead > layer_) {
        step.trigger(unit, "dead_percent", dead, ">", layer_);
      }
    }
  }

 private:
  SelectionId outputs_;
  double inactivity_;
  double layer_;
};

}  // namespace

RuleDescription dead_relu_rule() {
  return {
      .name = "DeadRelu",
      .alias = "dead_relu",
      .summary = "most nodes of a layer are almost never above zero",
      .condition =
          "per tensor and worker, axis 0 the samples and every position of the other axes a node:\n"
          "dead(node): 100 x #{samples : x > 0} / #samples < threshold_inactivity\n"
          "100 x #{dead nodes} / #nodes > threshold_layer\n"
          "Needs raw values.",
      .frameworks = "deep learning",
      .collections = {},
      .parameters = {{.name = "tensor_regex",
                      .type = ParameterType::pattern_list,
                      .default_text = ".*relu_output",
                      .help = "tensors to look at, by name"},
                     {.name = "threshold_inactivity",
                      .type = ParameterType::number,
                      .default_text = "1.0",
                      .help = "percentage of active samples below which a node is dead"},
                     {.name = "threshold_layer",
                      .type = ParameterType::number,
                      .default_text = "50.0",
                      .help = "percentage of dead nodes above which a layer triggers"}},
      .create = [](const Parameters& parameters) { return std::make_unique<DeadRelu>(parameters); },
      .saves =
          [](const Parameters& parameters) {
            return Collections{collection_of("relu_output", parameters.list("tensor_regex"))};
          },
  };
}

}  // namespace smd::detail::rules
