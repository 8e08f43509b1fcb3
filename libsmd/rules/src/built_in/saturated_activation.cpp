// SPDX-License-Identifier: Apache-2.0
#include "built_in/builtin.hpp"
#include "built_in/scans.hpp"
#include "text/nearest.hpp"

namespace smd::detail::rules {

namespace {

/// The range of inputs in which one activation function is not saturated.
struct Activation {
  std::string_view name;
  double min = 0;
  double max = 0;
};

class SaturatedActivation final : public UnitRule {
 public:
  explicit SaturatedActivation(const Parameters& parameters)
      : UnitRule(parameters, selection_of(parameters, false)),
        tanh_{"tanh", parameters.number("threshold_tanh_min"), parameters.number("threshold_tanh_max")},
        sigmoid_{"sigmoid", parameters.number("threshold_sigmoid_min"), parameters.number("threshold_sigmoid_max")} {}

  void summarize(RuleSummary& summary) override {
    if (!summary.saved(selection()).empty() && summary.tensors_asked() == 0) {
      summary.explain("no selected tensor whose name has tanh or sigmoid in it has raw values");
    }
  }

 private:
  void need(StepNeeds& step, const Unit& unit) override {
    if (function(unit.tensor()) != nullptr) {
      step.value(unit);
    }
  }

  void evaluate(StepView& step, const Unit& unit) override {
    const Activation* const activation = function(unit.tensor());
    if (const TensorValue* const value = activation == nullptr ? nullptr : step.value(unit)) {
      const double saturated = inactive_percent(value->view(), activation->min, activation->max,
                                                parameters().number("threshold_inactivity"));
      trigger_if(step, unit, activation->name, saturated, ">", parameters().number("threshold_layer"));
    }
  }

  /// Returns the function that the tensor's name contains, the later one if both; null if none.
  [[nodiscard]] const Activation* function(std::string_view tensor) const {
    const std::string lower = folded(tensor);
    const std::size_t tanh = lower.rfind(tanh_.name);
    const std::size_t sigmoid = lower.rfind(sigmoid_.name);
    if (tanh == std::string::npos && sigmoid == std::string::npos) {
      return nullptr;
    }
    return sigmoid == std::string::npos || (tanh != std::string::npos && tanh > sigmoid) ? &tanh_ : &sigmoid_;
  }

  Activation tanh_;
  Activation sigmoid_;
};

}  // namespace

RuleDescription saturated_activation_rule() {
  ParameterSpec regex = tensor_regex_parameter("stands even if collection_names is given");
  regex.default_text = ".*tanh_input|.*sigmoid_input";
  return {
      .name = "SaturatedActivation",
      .summary = "most nodes of a layer are almost always out of their activation's range",
      .condition =
          "per tensor and worker, axis 0 the samples and every position of the other axes a node, min and max those of "
          "the function in the tensor's name (tanh or sigmoid; neither: skipped):\n"
          "saturated(node): 100 x #{samples : min < x < max} / #samples < threshold_inactivity\n"
          "100 x #{saturated nodes} / #nodes > threshold_layer\n"
          "Needs raw values.",
      .frameworks = "deep learning",
      .parameters = {collection_names_parameter(""),
                     regex,
                     {"threshold_tanh_min", Type::number, "-9.4999", "inputs of tanh at or below this are saturated"},
                     {"threshold_tanh_max", Type::number, "9.4999", "inputs of tanh at or above this are saturated"},
                     {"threshold_sigmoid_min", Type::number, "-23", "inputs of sigmoid at or below this are saturated"},
                     {"threshold_sigmoid_max", Type::number, "16.99999",
                      "inputs of sigmoid at or above this are saturated"},
                     {"threshold_inactivity", Type::number, "1.0",
                      "percentage of samples in range below which a node is saturated"},
                     {"threshold_layer", Type::number, "50.0",
                      "percentage of saturated nodes above which a layer triggers"}},
      .create = create<SaturatedActivation>,
      .saves = [](const Parameters& parameters) { return selected(parameters, "saturated_activation"); },
  };
}

}  // namespace smd::detail::rules
