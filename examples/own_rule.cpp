// SPDX-License-Identifier: Apache-2.0
// A rule of the program's own, registered with the library: triggers when a gradient is far larger than it was at the
// step before.   own_rule TRIAL [PARAMETER=VALUE]...
#include <smd/smd.hpp>

#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <string>

namespace {

constexpr smd::Reduction norm{.kind = smd::ReductionKind::l2};

class GradientJump final : public smd::Rule {
 public:
  explicit GradientJump(const smd::Parameters& parameters)
      : Rule(parameters), gradients_(select({.collections = {"gradients"}})), factor_(parameters.number("factor")) {}

  // Requests what a step needs: the saved l2 norm of each gradient, or the value to compute it from.
  void set_required_tensors(smd::StepNeeds& step) override {
    for (const smd::Unit& unit : step.units(gradients_)) {
      step.measure(unit, norm);
    }
  }

  // Evaluates a step with the requested numbers. State comes from the steps evaluated before.
  void invoke_at_step(smd::StepView& step) override {
    for (const smd::Unit& unit : step.units(gradients_)) {
      const std::optional<double> now = step.measure(unit, norm);
      if (!now) {
        continue;  // not saved, or text: skipped
      }
      step.evaluated();
      const auto [before, first] =
          before_.try_emplace(std::string(unit.tensor()) + '\n' + std::string(unit.worker()), *now);
      if (!first && *now > factor_ * before->second) {
        step.trigger(unit, "jump", *now / before->second, ">", factor_);
      }
      before->second = *now;
    }
  }

 private:
  smd::SelectionId gradients_;
  double factor_;
  std::map<std::string, double> before_;
};

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2) {
    std::fputs("usage: own_rule TRIAL [PARAMETER=VALUE]...\n", stderr);
    return 2;
  }
  smd::register_rule({.name = "GradientJump",
                      .alias = "gradient_jump",
                      .summary = "a gradient is far larger than at the step before",
                      .condition = "per gradient and worker: ||g(now)|| > factor x ||g(before)||",
                      .frameworks = "deep learning",
                      .collections = {"gradients"},
                      .parameters = {{.name = "factor",
                                      .type = smd::ParameterType::number,
                                      .default_text = "10",
                                      .help = "how much larger triggers",
                                      .at_least = 1}},
                      .create = [](const smd::Parameters& parameters) -> std::unique_ptr<smd::Rule> {
                        return std::make_unique<GradientJump>(parameters);
                      }});
  smd::ParameterTexts parameters;
  for (int i = 2; i < argc; ++i) {
    const std::string text = argv[i];
    const std::size_t equals = text.find('=');
    parameters[text.substr(0, equals)] = equals == std::string::npos ? "" : text.substr(equals + 1);
  }
  const std::unique_ptr<smd::Rule> rule = smd::make_rule("GradientJump", parameters);
  const smd::Trial trial = smd::Trial::open(argv[1]);
  rule->set_trials(trial);
  const smd::RuleResult result = smd::invoke_rule(*rule);
  for (const smd::Finding& finding : result.findings) {
    std::printf("step %lld: %s\n", static_cast<long long>(finding.step->value), smd::shown_message(finding).c_str());
  }
  std::printf("%s, %zu steps\n", std::string(smd::to_string(result.status)).c_str(), result.steps_evaluated);
  return result.findings.empty() ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "own_rule: %s\n", error.what());
  return 2;
}
