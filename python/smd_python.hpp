// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/collection.hpp>
#include <smd/error.hpp>
#include <smd/step.hpp>
#include <smd/tensor.hpp>
#include <smd/tensor_view.hpp>

#include <pybind11/cast.h>

#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <new>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

/// What the extension modules of `smd` share: how values change between Python and C++. The modules forward to the
/// libraries; smd/__init__.py and smd/_trial.py have the interface and its documentation.
namespace smd {

namespace python {
namespace py = pybind11;

/// Returns the mode that is meant by a `smd.Mode`, its name in any case, or None, which is `Mode::global`.
[[nodiscard]] Mode mode_of(py::handle given);

/// Throws InvalidArgument: `GIVEN is no WANTED`.
[[noreturn]] void refuse(py::handle given, std::string_view wanted);
}  // namespace python

/// Returns an array of NumPy that owns the value's elements. The first call imports NumPy.
[[nodiscard]] pybind11::object to_python(const TensorValue& value);
/// Returns an object of the class of that name.
[[nodiscard]] pybind11::object to_python(const Problem& problem);
[[nodiscard]] pybind11::object to_python(const Collection& collection);
/// Returns the member of that name.
[[nodiscard]] pybind11::object to_python(Mode mode);
[[nodiscard]] pybind11::object to_python(StepState state);

}  // namespace smd

namespace pybind11::detail {

/// Text is Python's str: bytes that are not UTF-8 become surrogates and back, as in file names.
template <class T>
class text_caster {
  object bytes_;  // what a std::string_view shows

 public:
  PYBIND11_TYPE_CASTER(T, const_name("str"));
  bool load(handle source, bool /*convert*/) {
    if (!PyUnicode_Check(source.ptr())) {
      smd::python::refuse(source, "text");
    }
    bytes_ = reinterpret_steal<object>(PyUnicode_AsEncodedString(source.ptr(), "utf-8", "surrogateescape"));
    if (!bytes_) {
      PyErr_Clear();  // half of a surrogate pair
      smd::python::refuse(source, "text that UTF-8 has");
    }
    value = T(PyBytes_AS_STRING(bytes_.ptr()), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes_.ptr())));
    return true;
  }
  static handle cast(std::string_view text, return_value_policy /*policy*/, handle /*parent*/) {
    return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape");
  }
};
template <>
struct type_caster<std::string> : text_caster<std::string> {};
template <>
struct type_caster<std::string_view> : text_caster<std::string_view> {};

/// Converts numbers, and refuses all else with InvalidArgument: pybind11's own message lists internal functions.
template <>
struct type_caster<double> {
  PYBIND11_TYPE_CASTER(double, const_name("float"));
  bool load(handle source, bool /*convert*/) {
    value = PyFloat_AsDouble(source.ptr());
    if (PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      smd::python::refuse(source, "number");
    }
    return true;
  }
  static handle cast(double number, return_value_policy /*policy*/, handle /*parent*/) {
    return PyFloat_FromDouble(number);
  }
};

/// An object of a class of the modules. Refuses one without a value, which `__new__` alone makes: pybind11 would take
/// memory that nobody has set.
template <class T>
struct made_caster : type_caster_base<T> {
  bool load(handle source, bool convert) {
    const bool made = !isinstance<T>(source) ||
                      reinterpret_cast<instance*>(source.ptr())->get_value_and_holder().holder_constructed();
    return made && type_caster_base<T>::load(source, convert);
  }
};
template <>
struct type_caster<smd::Trial> : made_caster<smd::Trial> {};

template <>
struct type_caster<smd::Mode> {
  PYBIND11_TYPE_CASTER(smd::Mode, const_name("Mode"));
  bool load(handle source, bool /*convert*/) {
    value = smd::python::mode_of(source);
    return true;
  }
  static handle cast(smd::Mode mode, return_value_policy /*policy*/, handle /*parent*/) {
    return smd::to_python(mode).release();
  }
};

template <class Tag>
struct type_caster<smd::detail::StepNumber<Tag>> : type_caster<std::int64_t> {
  using Step = smd::detail::StepNumber<Tag>;
  template <class>
  using cast_op_type = Step;
  operator Step() const { return Step(value); }
  bool load(handle source, bool /*convert*/) {
    // What is no integer, such as a float of NumPy or PyTorch, would be cut off by a conversion.
    const object index = reinterpret_steal<object>(PyNumber_Index(source.ptr()));
    if (!index) {
      PyErr_Clear();
    }
    if (!index || !type_caster<std::int64_t>::load(index, false)) {
      smd::python::refuse(source, "step: an integer of 64 bits");
    }
    return true;
  }
  static handle cast(Step step, return_value_policy /*policy*/, handle /*parent*/) {
    return PyLong_FromLongLong(step.value);
  }
};

/// A step and its mode.
template <>
struct type_caster<smd::StepKey> : type_caster<std::pair<smd::ModeStep, smd::Mode>> {
  template <class>
  using cast_op_type = smd::StepKey;
  operator smd::StepKey() {
    const std::pair<smd::ModeStep, smd::Mode> both(*this);
    return {both.second, both.first};
  }
};

/// Results, which become what `to_python` returns: declare that before a module uses their type.
template <class T>
requires requires(const T& result) { to_python(result); }
struct type_caster<T> {
  static constexpr auto name = const_name("object");
  static handle cast(const T& result, return_value_policy /*policy*/, handle /*parent*/) {
    return to_python(result).release();
  }
};

}  // namespace pybind11::detail

// After the casters of texts, which it uses.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace smd::python {

/// Takes Python's lock back for this thread. If the interpreter is ending, a daemon thread stays here until the process
/// is over, as it does from Python 3.14 on. Earlier versions unwind the thread's stack, and the first destructor would
/// abort the process.
inline void take_lock(PyThreadState* thread) noexcept {
  try {
    PyEval_RestoreThread(thread);
  } catch (...) {
    for (;;) {
      (void)::pause();
    }
  }
}

/// Other threads may have Python's lock while this lives.
class Unlock {
 public:
  Unlock() = default;
  Unlock(const Unlock&) = delete;
  Unlock(Unlock&&) = delete;
  Unlock& operator=(const Unlock&) = delete;
  Unlock& operator=(Unlock&&) = delete;
  ~Unlock() { take_lock(thread_); }

 private:
  PyThreadState* thread_ = PyEval_SaveThread();
};

using Unlocked = py::call_guard<Unlock>;
using Worker = std::optional<std::string>;

/// Calls `work(stop)` in another thread while this one looks for signals: KeyboardInterrupt requests a stop.
template <class Work>
auto interruptible(const Work& work) {
  std::stop_source stop;
  auto result = std::async(std::launch::async, [&] { return work(stop.get_token()); });
  const auto is_ready = [&result] {
    const Unlock unlocked;
    return result.wait_for(std::chrono::milliseconds(50)) == std::future_status::ready;
  };
  while (!is_ready()) {
    if (PyErr_CheckSignals() != 0) {
      const py::error_already_set signal;
      stop.request_stop();
      while (!is_ready()) {
      }
      throw signal;
    }
  }
  return result.get();
}

/// Returns room for elements, much of them on large pages: the first use of small ones takes longer than filling them.
template <class T>
[[nodiscard]] std::shared_ptr<T[]> room_for(std::size_t count) {
  constexpr std::size_t page = std::size_t{2} << 20;
  const std::size_t bytes = (count * sizeof(T) + page - 1) / page * page;
  if (bytes <= page) {
    return std::shared_ptr<T[]>(new T[count]);
  }
  void* const memory = ::operator new(bytes, std::align_val_t(page));
  (void)::madvise(memory, bytes, MADV_HUGEPAGE);
  return {static_cast<T*>(memory), [](T* elements) { ::operator delete(elements, std::align_val_t(page)); }};
}

/// Returns elements, which it shares, as a value.
template <class T>
[[nodiscard]] TensorValue value_of(Dtype dtype, Shape shape, const std::shared_ptr<T[]>& elements, std::size_t count) {
  return {dtype, std::move(shape),
          std::shared_ptr<const std::byte[]>(elements, reinterpret_cast<const std::byte*>(elements.get())),
          count * sizeof(T)};
}

/// Raises an error of the class `smd.NAME` with these facts as attributes.
void raise(const char* name, const Error& error, py::dict facts = {});

/// Adds what reads many values of a tensor at once.
void add_columns(py::class_<Trial>& trial);

/// Makes C++'s exceptions those of `smd`.
void add_exceptions();

}  // namespace smd::python
