// SPDX-License-Identifier: Apache-2.0
#include "convert.hpp"

#include <array>

namespace smd::python {

namespace {

struct ErrorClass {
  const char* name;
  const char* base;  ///< Null: Exception.
  const char* help;
};

constexpr std::array<ErrorClass, 15> classes = {{
    {"Error", nullptr, "What the library raises. tag: the kind of error, as the commands print it."},
    {"ReadError", "Error", "A file, a record or a path cannot be read or is not valid. problem: what and where."},
    {"WriteError", "Error", "A file cannot be written. problem: what and where."},
    {"StepAlreadySaved", "Error", "The worker has saved the step before. worker, step, can_append."},
    {"InvalidArgument", "Error", "An argument is not valid, such as a pattern that does not compile."},
    {"MatchLimit", "Error", "A pattern needs too many steps to match. pattern."},
    {"TensorUnavailable", "Error", "The trial has no such tensor. tensor; nearest: similar names."},
    {"TensorUnavailableForStep", "Error",
     "The tensor was not saved at the step. tensor, step, mode; saved: reductions that were; missing: a Problem if its "
     "file is not there."},
    {"StepUnavailable", "Error", "The step was skipped, or the job ended before it. step, mode."},
    {"StepNotYetAvailable", "Error", "The job is running, so the step may still come. step, mode."},
    {"NoMoreData", "StepUnavailable", "The job has ended before the step. step, mode."},
    {"RuleEvaluationConditionMet", "Error", "The condition of a rule is met. rule, step."},
    {"MissingCollectionFiles", "Error",
     "There is no trial, or one that has saved nothing. path; ended: waiting is no help."},
    {"InvalidWorker", "Error", "The worker did not save the tensor then. worker; workers: those that did."},
    {"IndexReaderException", "Error", "An index file is damaged (strict=True). problem."},
}};

template <class Value>
py::object object(const Value& value) {
  return py::cast(value);
}
py::object object(const std::string& text) { return py::cast(Text{text}); }
py::object object(const std::vector<std::string>& all) { return py::cast(texts(all)); }

void translate(std::exception_ptr pointer) {
  try {
    std::rethrow_exception(std::move(pointer));
  } catch (const ReadError& e) {
    raise("ReadError", e, {{"problem", object(e.problem)}});
  } catch (const WriteError& e) {
    raise("WriteError", e, {{"problem", object(e.problem)}});
  } catch (const StepAlreadySaved& e) {
    raise("StepAlreadySaved", e,
          {{"worker", object(e.worker)}, {"step", object(e.step)}, {"can_append", object(e.can_append)}});
  } catch (const InvalidArgument& e) {
    raise("InvalidArgument", e, {});
  } catch (const MatchLimit& e) {
    raise("MatchLimit", e, {{"pattern", object(e.pattern)}});
  } catch (const TensorUnavailable& e) {
    raise("TensorUnavailable", e, {{"tensor", object(e.tensor)}, {"nearest", object(e.nearest)}});
  } catch (const TensorUnavailableForStep& e) {
    raise("TensorUnavailableForStep", e,
          {{"tensor", object(e.tensor)},
           {"step", object(e.step.number)},
           {"mode", object(e.step.mode)},
           {"saved", object(e.saved)},
           {"missing", object(e.missing)}});
  } catch (const NoMoreData& e) {
    raise("NoMoreData", e, {{"step", object(e.step.number)}, {"mode", object(e.step.mode)}});
  } catch (const StepUnavailable& e) {
    raise("StepUnavailable", e, {{"step", object(e.step.number)}, {"mode", object(e.step.mode)}});
  } catch (const StepNotYetAvailable& e) {
    raise("StepNotYetAvailable", e, {{"step", object(e.step.number)}, {"mode", object(e.step.mode)}});
  } catch (const RuleEvaluationConditionMet& e) {
    raise("RuleEvaluationConditionMet", e, {{"rule", object(e.rule)}, {"step", object(e.step)}});
  } catch (const MissingCollectionFiles& e) {
    raise("MissingCollectionFiles", e, {{"path", object(e.path)}, {"ended", object(e.ended)}});
  } catch (const InvalidWorker& e) {
    raise("InvalidWorker", e, {{"worker", object(e.worker)}, {"workers", object(e.workers)}});
  } catch (const IndexReaderException& e) {
    raise("IndexReaderException", e, {{"problem", object(e.problem)}});
  } catch (const Error& e) {
    raise("Error", e, {});
  }
}

}  // namespace

void raise(const char* class_name, const Error& error,
           std::initializer_list<std::pair<const char*, py::object>> facts) {
  const py::object type = py::module_::import("smd").attr(class_name);
  const py::object made = type(Text{error.what()});
  made.attr("tag") = std::string(error.tag());
  for (const auto& [name, value] : facts) {
    made.attr(name) = value;
  }
  PyErr_SetObject(type.ptr(), made.ptr());
}

void add_errors(py::module_& module) {
  for (const ErrorClass& one : classes) {
    const py::object base = one.base == nullptr ? py::object() : py::object(module.attr(one.base));
    module.attr(one.name) = py::reinterpret_steal<py::object>(
        PyErr_NewExceptionWithDoc((std::string("smd.") + one.name).c_str(), one.help, base.ptr(), nullptr));
  }
  py::register_exception_translator(translate);
}

}  // namespace smd::python
