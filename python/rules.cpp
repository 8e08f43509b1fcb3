// SPDX-License-Identifier: Apache-2.0
// The module smd._rules: evaluating built-in rules.
#include "smd_python.hpp"

#include <smd/evaluator.hpp>
#include <smd/rule_registry.hpp>

#include <vector>

namespace smd {

using pybind11::literals::operator""_a;

pybind11::object to_python(const Finding& finding) {
  return pybind11::module_::import("smd.rules")
      .attr("Finding")("step"_a = finding.step, "mode"_a = finding.mode, "mode_step"_a = finding.mode_step,
                       "tensor"_a = finding.tensor, "worker"_a = finding.worker, "check"_a = finding.check,
                       "value"_a = finding.value, "relation"_a = finding.relation, "threshold"_a = finding.threshold,
                       "message"_a = shown_message(finding));
}

pybind11::object to_python(const RuleResult& result) {
  return pybind11::module_::import("smd.rules")
      .attr("RuleResult")("rule"_a = result.rule, "status"_a = to_string(result.status), "findings"_a = result.findings,
                          "steps_evaluated"_a = result.steps_evaluated, "steps_skipped"_a = result.steps_skipped,
                          "first_step"_a = result.first_step, "last_step"_a = result.last_step,
                          "tensors_matched"_a = result.tensors_matched,
                          "params"_a = pybind11::dict(pybind11::cast(result.params)), "message"_a = result.message,
                          "warnings"_a = result.warnings, "records_unread"_a = result.records_unread,
                          "problems"_a = result.problems, "elapsed"_a = result.elapsed);
}

namespace python {

namespace {

/// Holds Python's lock in a thread that has released it with `Unlock`.
struct Lock {
  Lock() { take_lock(PyGILState_GetThisThreadState()); }
  Lock(const Lock&) = delete;
  Lock(Lock&&) = delete;
  Lock& operator=(const Lock&) = delete;
  Lock& operator=(Lock&&) = delete;
  ~Lock() { (void)PyEval_SaveThread(); }
};

RuleResult run(const Trial& trial, const std::string& rule, const std::vector<const Trial*>& others, bool keep_going,
               const ParameterTexts& parameters) {
  const RuleDescription description = describe_rule(rule);
  if (const std::size_t most = description.other_trials; others.size() > most) {
    throw ConfigurationError(ConfigurationErrorKind::bad_trial,
                             description.name + " compares with " + std::to_string(most) + " other trial" +
                                 (most == 1 ? "" : "s") + ", not with " + std::to_string(others.size()),
                             "other_trial");
  }
  EvaluationOptions options;
  options.keep_going = keep_going;
  options.progress = [](std::uint64_t /*done*/, std::uint64_t /*total*/) {
    const Lock lock;
    if (PyErr_CheckSignals() != 0) {
      throw py::error_already_set();
    }
  };
  Evaluator evaluator(trial, std::move(options));
  evaluator.add(make_rule(rule, parameters), {}, others);
  evaluator.run();
  return evaluator.results().front();
}

void translate(std::exception_ptr pointer) {
  try {
    std::rethrow_exception(std::move(pointer));
  } catch (const ConfigurationError& e) {
    raise("ConfigurationError", e,
          py::dict("kind"_a = to_string(e.kind), "parameter"_a = e.parameter, "nearest"_a = e.nearest));
  } catch (const RuleEvaluationConditionMet& e) {
    raise("RuleEvaluationConditionMet", e, py::dict("rule_name"_a = e.rule, "step"_a = e.step));
  }
}

std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const RuleDescription& rule : rule_descriptions()) {
    names.push_back(rule.name);
  }
  return names;
}

/// Returns the names of a rule's parameters that are lists.
std::vector<std::string> lists(const std::string& rule) {
  std::vector<std::string> names;
  for (const ParameterSpec& parameter : describe_rule(rule).parameters) {
    switch (parameter.type) {
      case ParameterType::list:
      case ParameterType::number_list:
      case ParameterType::pattern_list:
        names.push_back(parameter.name);
        break;
      case ParameterType::integer:
      case ParameterType::number:
      case ParameterType::boolean:
      case ParameterType::pattern:
      case ParameterType::text:
        break;
    }
  }
  return names;
}

}  // namespace

PYBIND11_MODULE(_rules, module) {
  py::module_::import("smd._core");
  py::register_exception_translator(translate);
  module.def("run", &run, Unlocked());
  module.def("names", &names);
  module.def("lists", &lists);
}

}  // namespace python

}  // namespace smd
