// SPDX-License-Identifier: Apache-2.0
// A plug-in with one rule: it triggers if too many elements of a tensor are above a threshold.
//   c++ -std=c++20 -shared -fPIC -o my_rules.so rule_plugin.cpp $(pkg-config --cflags --libs smd)
//   smd-rule --plugin ./my_rules.so TRIAL -r MyRule -p threshold=2
#include <smd/rule.hpp>
#include <smd/rule_plugin.hpp>
#include <smd/rule_registry.hpp>
#include <smd/tensor_view.hpp>

#include <cstdint>
#include <cstring>
#include <memory>

namespace {

class MyRule final : public smd::Rule {
 public:
  explicit MyRule(const smd::Parameters& parameters)
      : Rule(parameters),
        tensors_(select({.regex = parameters.list("tensor_regex"), .all = true})),
        threshold_(parameters.number("threshold")),
        most_(parameters.integer("most")) {}

  void set_required_tensors(smd::StepNeeds& step) override {
    for (const smd::Unit& unit : step.units(tensors_)) {
      step.value(unit);
    }
  }

  void invoke_at_step(smd::StepView& step) override {
    for (const smd::Unit& unit : step.units(tensors_)) {
      const smd::TensorValue* const value = step.value(unit);
      if (value == nullptr || value->dtype() != smd::Dtype::float32) {
        continue;
      }
      step.judged();
      if (const std::int64_t above = count(*value); above > most_) {
        step.fire(unit, "above", static_cast<double>(above), ">", static_cast<double>(most_));
      }
    }
  }

 private:
  [[nodiscard]] std::int64_t count(const smd::TensorValue& value) const {
    std::int64_t above = 0;
    for (std::size_t at = 0; at + sizeof(float) <= value.bytes().size(); at += sizeof(float)) {
      float element = 0;
      std::memcpy(&element, value.bytes().data() + at, sizeof element);
      above += element > threshold_ ? 1 : 0;
    }
    return above;
  }

  smd::SelectionId tensors_;
  double threshold_;
  std::int64_t most_;
};

void register_my_rules() {
  smd::register_rule({.name = "MyRule",
                      .alias = "my_rule",
                      .summary = "too many elements are above a threshold",
                      .condition = "per tensor and worker: #{x : x > threshold} > most",
                      .frameworks = "all",
                      .parameters = {{.name = "threshold",
                                      .type = smd::ParameterType::number,
                                      .help = "elements above this are counted",
                                      .required = true},
                                     {.name = "most",
                                      .type = smd::ParameterType::integer,
                                      .default_text = "0",
                                      .help = "so many are allowed",
                                      .at_least = 0},
                                     {.name = "tensor_regex",
                                      .type = smd::ParameterType::pattern_list,
                                      .help = "tensors to look at; not given: all"}},
                      .create = [](const smd::Parameters& parameters) -> std::unique_ptr<smd::Rule> {
                        return std::make_unique<MyRule>(parameters);
                      }});
}

}  // namespace

SMD_RULE_PLUGIN(register_my_rules);
