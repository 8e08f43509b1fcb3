// SPDX-License-Identifier: Apache-2.0
// The module smd._rules: evaluating built-in rules.
#include "smd_python.hpp"

#include <smd/evaluator.hpp>
#include <smd/rule_registry.hpp>

namespace smd::python {

namespace {

using py::literals::operator""_a;

py::object optional_text(const std::optional<std::string>& text) { return text ? py::cast(Text{*text}) : py::none(); }

py::dict facts_of(const Finding& finding) {
  return py::dict("step"_a = finding.step, "mode"_a = finding.mode, "mode_step"_a = finding.mode_step,
                  "tensor"_a = optional_text(finding.tensor), "worker"_a = optional_text(finding.worker),
                  "check"_a = Text{finding.check}, "value"_a = finding.value, "relation"_a = finding.relation,
                  "threshold"_a = finding.threshold, "message"_a = Text{finding.message});
}

py::dict facts_of(const RuleResult& result) {
  py::list findings;
  for (const Finding& finding : result.findings) {
    findings.append(py::module_::import("smd.rules").attr("Finding")(**facts_of(finding)));
  }
  py::list problems;
  for (const Problem& problem : result.problems) {
    problems.append(problem_of(problem));
  }
  py::dict params;
  for (const auto& [name, text] : result.params) {
    params[py::str(name)] = optional_text(text);
  }
  return py::dict("rule"_a = result.rule, "status"_a = std::string(to_string(result.status)), "findings"_a = findings,
                  "steps_evaluated"_a = result.steps_evaluated, "steps_skipped"_a = result.steps_skipped,
                  "first_step"_a = result.first_step, "last_step"_a = result.last_step,
                  "tensors_matched"_a = result.tensors_matched, "params"_a = params, "message"_a = Text{result.message},
                  "warnings"_a = texts(result.warnings), "records_unread"_a = result.records_unread,
                  "problems"_a = problems, "elapsed"_a = result.elapsed);
}

py::dict run(const Trial& trial, const std::string& rule, const std::vector<const Trial*>& others, bool keep_going,
             const ParameterTexts& parameters) {
  RuleResult result;
  {
    const py::gil_scoped_release release;
    EvaluationOptions options;
    options.keep_going = keep_going;
    options.progress = [](std::uint64_t /*done*/, std::uint64_t /*total*/) {
      const py::gil_scoped_acquire lock;
      if (PyErr_CheckSignals() != 0) {
        throw py::error_already_set();
      }
    };
    Evaluator evaluator(trial, std::move(options));
    evaluator.add(make_rule(rule, parameters), {}, others);
    evaluator.run();
    result = evaluator.results().front();
  }
  return facts_of(result);
}

void translate(std::exception_ptr pointer) {
  try {
    std::rethrow_exception(std::move(pointer));
  } catch (const ConfigurationError& e) {
    raise("ConfigurationError", e,
          py::dict("kind"_a = std::string(to_string(e.kind)), "parameter"_a = Text{e.parameter},
                   "nearest"_a = Text{e.nearest}));
  }
}

}  // namespace

PYBIND11_MODULE(_rules, module) {
  py::module_::import("smd._core");
  py::register_exception_translator(translate);
  module.def("run", &run);
  module.def("names", [] {
    std::vector<std::string> names;
    for (const RuleDescription& rule : rule_descriptions()) {
      names.push_back(rule.name);
    }
    return names;
  });
}

}  // namespace smd::python
