// SPDX-License-Identifier: Apache-2.0
#include "built_in/builtin.hpp"
#include "built_in/scans.hpp"
#include "framework/common.hpp"
#include "framework/saves.hpp"

#include <algorithm>
#include <string>

namespace smd::detail::rules {

namespace {

/// The range of inputs in which one activation function is not saturated.
struct Activation {
  std::string_view name;
  double min = 0;
  double max = 0;
};

class SaturatedActivation final : public Rule {
 public:
  explicit SaturatedActivation(const Parameters& parameters)
      : Rule(parameters),
        inputs_(select(selection_of(parameters, false))),
        tanh_{"tanh", parameters.number("threshold_tanh_min"), parameters.number("threshold_tanh_max")},
        sigmoid_{"sigmoid", parameters.number("threshold_sigmoid_min"), parameters.number("threshold_sigmoid_max")},
        inactivity_(parameters.number("threshold_inactivity")),
        layer_(parameters.number("threshold_layer")) {}

  void set_required_tensors(StepNeeds& step) override {
    for (const Unit& unit : step.units(inputs_)) {
      if (function(unit.tensor()) != nullptr) {
        step.value(unit);
      }
    }
  }

  void invoke_at_step(StepView& step) override {
    for (const Unit& unit : step.units(inputs_)) {
      const Activation* const activation = function(unit.tensor());
      const TensorValue* const value = activation == nullptr ? nullptr : step.value(unit);
      if (value == nullptr) {
        continue;
      }
      step.evaluated();
      const double saturated = inactive_percent(value->view(), activation->min, activation->max, inactivity_);
      if (saturated > layer_) {
        step.trigger(unit, activation->name, saturated, ">", layer_);
      }
    }
  }

  void summarize(RuleSummary& summary) override {
    if (!summary.saved(inputs_).empty() && summary.tensors_asked() == 0) {
      summary.explain("no selected tensor whose name has tanh or sigmoid in it has raw values");
    }
  }

 private:
  /// Returns the function that the tensor's name contains, the later one if both; null if none.
  [[nodiscard]] const Activation* function(std::string_view tensor) const {
    std::string lower(tensor);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    const std::size_t tanh = lower.rfind(tanh_.name);
    const std::size_t sigmoid = lower.rfind(sigmoid_.name);
    if (tanh == std::string::npos && sigmoid == std::string::npos) {
      return nullptr;
    }
    return sigmoid == std::string::npos || (tanh != std::string::npos && tanh > sigmoid) ? &tanh_ : &sigmoid_;
  }

  SelectionId inputs_;
  Activation tanh_;
  Activation sigmoid_;
  double inactivity_;
  double layer_;
};

ParameterSpec bound(const char* name, const char* value, const char* help) {
  return {.name = name, .type = ParameterType::number, .default_text = value, .help = help};
}

}  // namespace

RuleDescription saturated_activation_rule() {
  ParameterSpec regex = tensor_regex_parameter("stands even if collection_names is given");
  regex.default_text = ".*tanh_input|.*sigmoid_input";
  return {
      .name = "SaturatedActivation",
      .alias = "saturated_activation",
      .summary = "most nodes of a layer are almost always out of their activation's range",
      .condition =
          "per tensor and worker, axis 0 the samples and every position of the other axes a node, min and max "
          "those of the function in the tensor's name (tanh or sigmoid; neither: skipped):\n"
          "saturated(node): 100 x #{samples : min < x < max} / #samples < threshold_inactivity\n"
          "100 x #{saturated nodes} / #nodes > threshold_layer\n"
          "Needs raw values.",
      .frameworks = "deep learning",
      .parameters = {collection_names_parameter(""), regex,
                     bound("threshold_tanh_min", "-9.4999", "inputs of tanh at or below this are saturated"),
                     bound("threshold_tanh_max", "9.4999", "inputs of tanh at or above this are saturated"),
                     bound("threshold_sigmoid_min", "-23", "inputs of sigmoid at or below this are saturated"),
                     bound("threshold_sigmoid_max", "16.99999", "inputs of sigmoid at or above this are saturated"),
                     bound("threshold_inactivity", "1.0",
                           "percentage of samples in range below which a node is saturated"),
                     bound("threshold_layer", "50.0", "percentage of saturated nodes above which a layer triggers")},
      .create = [](const Parameters& parameters) { return std::make_unique<SaturatedActivation>(parameters); },
      .saves = [](const Parameters& parameters) { return selected(parameters, "saturated_activation"); },
  };
}

}  // namespace smd::detail::rules
