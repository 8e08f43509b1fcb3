// SPDX-License-Identifier: Apache-2.0
#include "smd_python.hpp"

#include <smd/elements.hpp>

#include <pybind11/numpy.h>

#include <algorithm>
#include <memory>
#include <string_view>

namespace smd::python {

namespace {

using py::literals::operator""_a;

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
    const std::shared_ptr<float[]> numbers = room_for<float>(elements.size());
    for (std::size_t i = 0; i < elements.size(); ++i) {
      numbers[i] = static_cast<float>(elements[i]);
    }
    return value_of(Dtype::float32, value.shape(), numbers, elements.size());
  });
}

/// Returns an array. @throws InvalidArgument if NumPy refuses its shape, for instance because it has too many axes.
template <class... Arguments>
py::array array_of(const py::dtype& dtype, const Shape& shape, const Arguments&... arguments) {
  try {
    return py::array(dtype, shape, arguments...);
  } catch (const py::error_already_set& error) {
    if (!error.matches(PyExc_ValueError)) {
      throw;
    }
    throw InvalidArgument("NumPy cannot hold the value: " + std::string(py::str(error.value())));
  }
}

template <class WithStep>
py::dict step_of(const WithStep& e) {
  return py::dict("step"_a = e.step.number, "mode"_a = e.step.mode);
}

/// Derived classes come first.
void translate(std::exception_ptr pointer) {
  try {
    std::rethrow_exception(std::move(pointer));
  } catch (const ReadError& e) {
    raise("ReadError", e, py::dict("problem"_a = e.problem));
  } catch (const IndexReaderException& e) {
    raise("IndexReaderException", e, py::dict("problem"_a = e.problem));
  } catch (const MatchLimit& e) {
    raise("MatchLimit", e, py::dict("pattern"_a = e.pattern));
  } catch (const InvalidArgument& e) {
    raise("InvalidArgument", e);
  } catch (const NoMoreData& e) {
    raise("NoMoreData", e, py::dict("last_step"_a = e.last_step, **step_of(e)));
  } catch (const StepUnavailable& e) {
    raise("StepUnavailable", e, step_of(e));
  } catch (const StepNotYetAvailable& e) {
    raise("StepNotYetAvailable", e, step_of(e));
  } catch (const TensorUnavailable& e) {
    raise("TensorUnavailable", e, py::dict("tensor"_a = e.tensor, "nearest"_a = e.nearest));
  } catch (const TensorUnavailableForStep& e) {
    const bool has_reductions = std::ranges::any_of(e.saved, [](const auto& what) { return what != "shape"; });
    raise("TensorUnavailableForStep", e,
          py::dict("tensor"_a = e.tensor, "saved"_a = e.saved, "has_reductions"_a = has_reductions,
                   "missing"_a = e.missing, **step_of(e)));
  } catch (const MissingCollectionFiles& e) {
    raise("MissingCollectionFiles", e, py::dict("path"_a = e.path, "ended"_a = e.ended));
  } catch (const InvalidWorker& e) {
    raise("InvalidWorker", e, py::dict("worker"_a = e.worker, "workers"_a = e.workers));
  } catch (const Error& e) {
    raise("Error", e);
  }
}

}  // namespace

void raise(const char* name, const Error& error, py::dict facts) {
  const py::object type = py::module_::import("smd").attr(name);
  const py::object made = type.attr("__new__")(type, std::string(error.what()));  // not from the facts
  facts["tag"] = error.tag();
  made.attr("__dict__").attr("update")(facts);
  PyErr_SetObject(type.ptr(), made.ptr());
}

Mode mode_of(py::handle given) {
  if (given.is_none()) {
    return Mode::global;
  }
  const std::optional<Mode> mode = parse_mode(std::string(py::str(py::getattr(given, "name", given))));
  if (!mode) {
    refuse(given, "mode: train, eval, predict or global");
  }
  return *mode;
}

void refuse(py::handle given, std::string_view wanted) {
  throw InvalidArgument(std::string(py::repr(given)) + " is no " + std::string(wanted));
}

void add_exceptions() { py::register_exception_translator(translate); }

}  // namespace smd::python

namespace smd {

namespace py = pybind11;
using py::literals::operator""_a;

py::object to_python(const Problem& problem) {
  return py::module_::import("smd").attr("Problem")("kind"_a = to_string(problem.kind), "file"_a = problem.file,
                                                    "offset"_a = problem.offset, "text"_a = problem.text);
}

py::object to_python(const Collection& collection) {
  return py::module_::import("smd").attr("Collection")("name"_a = collection.name,
                                                       "tensor_names"_a = collection.tensor_names,
                                                       "include_regex"_a = collection.include_regex);
}

py::object to_python(Mode mode) {
  return py::module_::import("smd._trial").attr("Mode").attr(py::cast(to_string(mode)));
}

py::object to_python(StepState state) {
  return py::module_::import("smd._trial").attr("StepState").attr(py::cast(to_string(state)));
}

py::object to_python(const TensorValue& value) {
  // This imports NumPy under Python's lock of the module, at which threads wait without the GIL. pybind11 would import
  // it under a lock at which they wait with the GIL: a deadlock.
  const py::module_ arrays = py::module_::import("smd._arrays");
  if (value.dtype() == Dtype::string) {
    const std::vector<std::string_view> all = strings(value.view());
    py::array array = python::array_of(py::dtype("O"), value.shape());
    std::transform(all.begin(), all.end(), static_cast<PyObject**>(array.mutable_data()),
                   [](std::string_view text) { return python::str_or_bytes(text).release().ptr(); });
    return array;
  }
  py::object name = py::cast(to_string(storage_type(value.dtype())));
  if (is_floating(value.dtype()) && item_size(value.dtype()) <= 2 && value.dtype() != Dtype::float16) {
    name = arrays.attr("small_float")(name);
    if (name.is_none()) {
      return to_python(python::widened(value));
    }
  }
  // Nobody else has this copy of the value, so the array may be written to.
  const py::capsule owner(new TensorValue(value), [](void* kept) { delete static_cast<TensorValue*>(kept); });
  return python::array_of(py::dtype::from_args(name), value.shape(), value.bytes().data(), owner);
}

}  // namespace smd
