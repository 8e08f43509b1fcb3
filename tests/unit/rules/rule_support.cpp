// SPDX-License-Identifier: Apache-2.0
#include "rule_support.hpp"

#include <nlohmann/json.hpp>

namespace smd::test {

RuleTrial::RuleTrial(const std::map<std::string, std::vector<std::string>>& collections, int workers)
    : builder_(dir_.path()) {
  nlohmann::json all = nlohmann::json::object();
  for (const auto& [name, patterns] : collections) {
    all[name] = {{"name", name}, {"include_regex", patterns}, {"tensor_names", nlohmann::json::array()}};
  }
  const nlohmann::json document = {{"collections", all}, {"_meta", {{"num_workers", workers}}}};
  for (int worker = 0; worker < workers; ++worker) {
    builder_.file("collections/000000000/worker_" + std::to_string(worker) + "_collections.json", document.dump());
  }
}

RuleTrial& RuleTrial::step(std::int64_t step, const Tensors& tensors) {
  return this->step(step, Mode::global, step, tensors);
}

RuleTrial& RuleTrial::step(std::int64_t step, Mode mode, std::int64_t mode_step, const Tensors& tensors) {
  BuiltStep built;
  built.step = step;
  built.mode = mode;
  built.mode_step = mode_step;
  built.tensors = tensors;
  return this->step(std::move(built));
}

RuleTrial& RuleTrial::step(BuiltStep step) {
  builder_.step(step);
  return *this;
}

RuleTrial& RuleTrial::running() {
  running_ = true;
  return *this;
}

Trial RuleTrial::open() const {
  if (!running_) {
    builder_.end();
  }
  return Trial::open(dir_.path(), {.auto_refresh = false});
}

RuleResult RuleTrial::run(const std::string& rule, const ParameterTexts& parameters, EvaluationOptions options) const {
  const Trial trial = open();
  Evaluator evaluator(trial, std::move(options));
  evaluator.add(make_rule(rule, parameters));
  evaluator.run();
  return evaluator.results().front();
}

RuleResult RuleTrial::run(const std::string& rule, const ParameterTexts& parameters, const RuleTrial& other) const {
  const Trial trial = open();
  const Trial second = other.open();
  ParameterTexts texts = parameters;
  texts["other_trial"] = second.path();
  Evaluator evaluator(trial, {.keep_going = true});
  evaluator.add(make_rule(rule, texts), {}, {&second});
  evaluator.run();
  return evaluator.results().front();
}

std::string saved(const std::string& reduction, const std::string& tensor) {
  return "smdebug/reductions/" + reduction + "/" + tensor;
}

std::vector<std::int64_t> triggered_at(const RuleResult& result) {
  std::vector<std::int64_t> steps;
  for (const Finding& finding : result.findings) {
    steps.push_back(finding.step ? finding.step->value : -1);
  }
  return steps;
}

std::string refused(const std::string& rule, const ParameterTexts& parameters) {
  try {
    static_cast<void>(make_rule(rule, parameters));
  } catch (const ConfigurationError& error) {
    return std::string(to_string(error.kind)) + (error.parameter.empty() ? "" : " " + error.parameter);
  }
  return {};
}

}  // namespace smd::test
