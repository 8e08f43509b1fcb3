// SPDX-License-Identifier: Apache-2.0
// A plug-in with a sound registration and a rule that throws, for the tests of smd-rule.
#include <smd/rule.hpp>
#include <smd/rule_plugin.hpp>
#include <smd/rule_registry.hpp>

#include <cstdint>
#include <memory>
#include <stdexcept>

namespace {

class ThrowingRule final : public smd::Rule {
 public:
  explicit ThrowingRule(const smd::Parameters& parameters) : Rule(parameters), at_(parameters.integer("at")) {}

  void set_required_tensors(smd::StepNeeds&) override {}
  void invoke_at_step(smd::StepView& step) override {
    if (step.step().value >= at_) {
      throw std::runtime_error("out of luck");
    }
    step.evaluated();
  }

 private:
  std::int64_t at_;
};

void register_throwing_rule() {
  smd::register_rule({.name = "ThrowingRule",
                      .alias = "throwing_rule",
                      .summary = "throws",
                      .condition = "never",
                      .frameworks = "all",
                      .parameters = {{.name = "at",
                                      .type = smd::ParameterType::integer,
                                      .default_text = "0",
                                      .help = "the first step at which it throws"}},
                      .create = [](const smd::Parameters& parameters) -> std::unique_ptr<smd::Rule> {
                        return std::make_unique<ThrowingRule>(parameters);
                      }});
}

}  // namespace

SMD_RULE_PLUGIN(register_throwing_rule);
