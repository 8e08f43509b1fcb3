// SPDX-License-Identifier: Apache-2.0
#include "rule_support.hpp"

#include "text/mapped.hpp"

#include <fmt/format.h>
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
  return this->step({.step = step, .mode = mode, .mode_step = mode_step, .tensors = tensors});
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
  return result_of(open(), make_rule(rule, parameters), std::move(options));
}

RuleResult RuleTrial::run(const std::string& rule, const ParameterTexts& parameters, const RuleTrial& other) const {
  const Trial second = other.open();
  ParameterTexts texts = parameters;
  texts["other_trial"] = second.path();
  return result_of(open(), make_rule(rule, texts), {.keep_going = true}, {&second});
}

RuleResult result_of(const Trial& trial, std::unique_ptr<Rule> rule, EvaluationOptions options,
                     std::vector<const Trial*> others) {
  Evaluator evaluator(trial, std::move(options));
  evaluator.add(std::move(rule), {}, std::move(others));
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

std::vector<double> values(const RuleResult& result) { return detail::mapped(result.findings, &Finding::value); }

std::vector<std::string> found(const RuleResult& result) {
  return detail::mapped(result.findings, [](const Finding& one) {
    return fmt::format("{} {} {} {} {}", one.step ? one.step->value : -1, one.tensor.value_or("-"),
                       one.worker.value_or("-"), one.check, one.value);
  });
}

double number_of(const nlohmann::json& json) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (json.is_number()) {
    return json.get<double>();
  }
  return json == "Infinity" ? infinity : json == "-Infinity" ? -infinity : std::numeric_limits<double>::quiet_NaN();
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
