// SPDX-License-Identifier: Apache-2.0
#include "smd_python.hpp"

#include <smd/elements.hpp>

#include <string_view>

namespace smd::python {

namespace {

using py::literals::operator""_a;

/// Keeps a value for the arrays that show its elements. Nobody else has these, so an array may be written to.
struct Elements {
  TensorValue value;
};

py::object str_or_bytes(std::string_view text) {
  const auto size = static_cast<Py_ssize_t>(text.size());
  if (PyObject* const str = PyUnicode_DecodeUTF8(text.data(), size, nullptr)) {
    return py::reinterpret_steal<py::object>(str);
  }
  PyErr_Clear();
  return py::bytes(text.data(), text.size());
}

/// Returns floating point of 8 or 16 bits as float32, exactly.
TensorValue widened(const TensorValue& value) {
  return visit_numbers(value.view(), [&](const auto& elements) {
    const NewColumn<float> column(elements.size());
    for (std::size_t i = 0; i < elements.size(); ++i) {
      column[i] = static_cast<float>(elements[i]);
    }
    return column.value(Dtype::float32, value.shape());
  });
}

/// Returns the type of ml_dtypes with that name; None if the package is not installed or has no such type.
py::object ml_dtype(const std::string& name) {
  try {
    return py::getattr(py::module_::import("ml_dtypes"), name.c_str(), py::none());
  } catch (const py::error_already_set& error) {
    if (!error.matches(PyExc_ImportError)) {
      throw;
    }
    return py::none();
  }
}

// The class of each exception, and its facts.
struct Raised {
  const char* name;
  py::dict facts;
};
template <class WithStep>
py::dict step_of(const WithStep& e) {
  return py::dict("step"_a = e.step.number, "mode"_a = e.step.mode);
}
Raised raised(const ReadError& e) { return {"ReadError", py::dict("problem"_a = problem_of(e.problem))}; }
Raised raised(const WriteError& e) { return {"WriteError", py::dict("problem"_a = problem_of(e.problem))}; }
Raised raised(const IndexReaderException& e) {
  return {"IndexReaderException", py::dict("problem"_a = problem_of(e.problem))};
}
Raised raised(const InvalidArgument& /*e*/) { return {"InvalidArgument", {}}; }
Raised raised(const MatchLimit& e) { return {"MatchLimit", py::dict("pattern"_a = Text{e.pattern})}; }
Raised raised(const NoMoreData& e) { return {"NoMoreData", step_of(e)}; }
Raised raised(const StepUnavailable& e) { return {"StepUnavailable", step_of(e)}; }
Raised raised(const StepNotYetAvailable& e) { return {"StepNotYetAvailable", step_of(e)}; }
Raised raised(const TensorUnavailable& e) {
  return {"TensorUnavailable", py::dict("tensor"_a = Text{e.tensor}, "nearest"_a = texts(e.nearest))};
}
Raised raised(const TensorUnavailableForStep& e) {
  return {"TensorUnavailableForStep",
          py::dict("tensor"_a = Text{e.tensor}, "saved"_a = texts(e.saved),
                   "missing"_a = e.missing ? problem_of(*e.missing) : py::none(), **step_of(e))};
}
Raised raised(const StepAlreadySaved& e) {
  return {"StepAlreadySaved", py::dict("worker"_a = Text{e.worker}, "step"_a = e.step, "can_append"_a = e.can_append)};
}
Raised raised(const RuleEvaluationConditionMet& e) {
  return {"RuleEvaluationConditionMet", py::dict("rule_name"_a = Text{e.rule}, "step"_a = e.step)};
}
Raised raised(const MissingCollectionFiles& e) {
  return {"MissingCollectionFiles", py::dict("path"_a = Text{e.path}, "ended"_a = e.ended)};
}
Raised raised(const InvalidWorker& e) {
  return {"InvalidWorker", py::dict("worker"_a = Text{e.worker}, "workers"_a = texts(e.workers))};
}
Raised raised(const Error& /*e*/) { return {"Error", {}}; }

template <class Kind>
bool raise_as(const std::exception_ptr& pointer) {
  try {
    std::rethrow_exception(pointer);
  } catch (const Kind& e) {
    const Raised as = raised(e);
    raise(as.name, e, as.facts);
    return true;
  } catch (...) {
    return false;
  }
}

/// Tries one class after the other, derived ones first.
template <class... Kinds>
void translate(std::exception_ptr pointer) {
  if (!(raise_as<Kinds>(pointer) || ...)) {
    std::rethrow_exception(pointer);
  }
}

}  // namespace

py::object problem_of(const Problem& problem) {
  return py::module_::import("smd").attr("Problem")("kind"_a = std::string(to_string(problem.kind)),
                                                    "file"_a = Text{problem.file}, "offset"_a = problem.offset,
                                                    "text"_a = Text{problem.text});
}

void raise(const char* name, const Error& error, const py::dict& facts) {
  const py::object type = py::module_::import("smd").attr(name);
  const py::object made = type(Text{error.what()});
  made.attr("tag") = std::string(error.tag());
  made.attr("__dict__").attr("update")(facts);
  PyErr_SetObject(type.ptr(), made.ptr());
}

py::object to_array(const TensorValue& value) {
  const py::module_ numpy = py::module_::import("numpy");
  if (value.dtype() == Dtype::string) {
    const std::vector<std::string_view> all = strings(value.view());
    const py::object array = numpy.attr("empty")(all.size(), "object");
    for (std::size_t i = 0; i < all.size(); ++i) {
      array[py::int_(i)] = str_or_bytes(all[i]);
    }
    return array.attr("reshape")(value.shape());
  }
  const std::string name(to_string(storage_type(value.dtype())));
  py::object dtype = py::str(name);
  if (is_floating(value.dtype()) && item_size(value.dtype()) <= 2 && value.dtype() != Dtype::float16) {
    dtype = ml_dtype(name);
    if (dtype.is_none()) {
      return to_array(widened(value));
    }
  }
  return numpy.attr("ndarray")(value.shape(), dtype, Elements{value});
}

void add_common(py::module_& module) {
  py::class_<Elements>(module, "_Elements", py::buffer_protocol()).def_buffer([](const Elements& elements) {
    const std::span<const std::byte> bytes = elements.value.bytes();
    return py::buffer_info(const_cast<std::byte*>(bytes.data()), 1, "B", 1, {bytes.size()}, {std::size_t{1}});
  });
  py::register_exception_translator(
      translate<ReadError, WriteError, IndexReaderException, InvalidArgument, MatchLimit, NoMoreData, StepUnavailable,
                StepNotYetAvailable, TensorUnavailable, TensorUnavailableForStep, StepAlreadySaved,
                RuleEvaluationConditionMet, MissingCollectionFiles, InvalidWorker, Error>);
}

}  // namespace smd::python
