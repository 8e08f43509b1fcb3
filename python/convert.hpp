// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/error.hpp>
#include <smd/step.hpp>
#include <smd/tensor_view.hpp>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// What the modules of `smd` share: how arguments and results change between Python and C++.
namespace smd::python {

namespace py = pybind11;

/// Text as Python's str. Bytes that are not UTF-8 become surrogates and back, as in file names.
struct Text {
  std::string value;
};

/// One text, several, or None for none.
struct Texts {
  std::vector<std::string> all;
};

/// A path: str, bytes or os.PathLike.
struct Path {
  std::string value;
};

/// `smd.Mode`, its name in any case, or None, which is `Mode::global`.
struct ModeArgument {
  Mode mode = Mode::global;

  /// Nullopt for all modes.
  [[nodiscard]] std::optional<Mode> chosen() const { return mode == Mode::global ? std::nullopt : std::optional(mode); }
  [[nodiscard]] StepKey step(std::int64_t number) const noexcept { return {mode, ModeStep(number)}; }
};

template <class Range>
std::vector<Text> texts(const Range& range) {
  std::vector<Text> all;
  for (const auto& text : range) {
    all.push_back({std::string(text)});
  }
  return all;
}

/// Numbers that are filled here, and that an array of NumPy then owns.
template <class T>
class NewColumn {
 public:
  explicit NewColumn(std::size_t size) : data_(new T[size]), size_(size) {}

  [[nodiscard]] T* data() const noexcept { return data_.get(); }
  [[nodiscard]] T& operator[](std::size_t i) const noexcept { return data_[i]; }
  /// Returns the first `bytes` of them as a value of any shape.
  [[nodiscard]] TensorValue value(Dtype dtype, Shape shape, std::size_t bytes) const {
    return {dtype, std::move(shape),
            std::shared_ptr<const std::byte[]>(data_, reinterpret_cast<const std::byte*>(data_.get())), bytes};
  }
  [[nodiscard]] TensorValue value(Dtype dtype, std::size_t size) const {
    return value(dtype, {static_cast<std::int64_t>(size)}, size * sizeof(T));
  }
  [[nodiscard]] TensorValue value(Dtype dtype) const { return value(dtype, size_); }

 private:
  std::shared_ptr<T[]> data_;
  std::size_t size_;
};

/// Returns an array of NumPy that owns the value's elements. The first call imports NumPy.
[[nodiscard]] py::object to_array(const TensorValue& value);

/// Returns a capsule with an ArrowArrayStream of one batch (docs of `Table`).
[[nodiscard]] py::capsule arrow_stream(const py::dict& columns);

/// Adds what `to_array` needs.
void add_elements(py::module_& module);

/// Adds the exceptions of `<smd/error.hpp>` to the module, and translates those that C++ throws.
void add_errors(py::module_& module);

/// Makes a new exception of a class of `smd`, with its facts as attributes, the current one.
void raise(const char* class_name, const Error& error, std::initializer_list<std::pair<const char*, py::object>> facts);

}  // namespace smd::python

namespace pybind11::detail {

template <>
struct type_caster<smd::python::Text> {
  PYBIND11_TYPE_CASTER(smd::python::Text, const_name("str"));
  bool load(handle source, bool /*convert*/) {
    if (!PyUnicode_Check(source.ptr())) {
      return false;
    }
    const auto bytes = reinterpret_steal<object>(PyUnicode_AsEncodedString(source.ptr(), "utf-8", "surrogateescape"));
    if (!bytes) {
      throw error_already_set();
    }
    value.value.assign(PyBytes_AS_STRING(bytes.ptr()), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.ptr())));
    return true;
  }
  static handle cast(const smd::python::Text& text, return_value_policy /*policy*/, handle /*parent*/) {
    return PyUnicode_DecodeUTF8(text.value.data(), static_cast<Py_ssize_t>(text.value.size()), "surrogateescape");
  }
};

template <>
struct type_caster<smd::python::Texts> {
  PYBIND11_TYPE_CASTER(smd::python::Texts, const_name("str | Iterable[str] | None"));
  bool load(handle source, bool convert) {
    make_caster<smd::python::Text> one;
    if (source.is_none()) {
      return true;
    }
    if (one.load(source, convert)) {
      value.all.push_back(cast_op<smd::python::Text&>(one).value);
      return true;
    }
    if (!isinstance<iterable>(source)) {
      return false;
    }
    for (const handle item : reinterpret_borrow<iterable>(source)) {
      if (!one.load(item, convert)) {
        return false;
      }
      value.all.push_back(cast_op<smd::python::Text&>(one).value);
    }
    return true;
  }
};

template <>
struct type_caster<smd::python::Path> {
  PYBIND11_TYPE_CASTER(smd::python::Path, const_name("str | os.PathLike[str]"));
  bool load(handle source, bool /*convert*/) {
    PyObject* bytes = nullptr;
    if (PyUnicode_FSConverter(source.ptr(), &bytes) == 0) {
      throw error_already_set();
    }
    value.value.assign(PyBytes_AS_STRING(bytes), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes)));
    Py_DECREF(bytes);
    return true;
  }
};

template <>
struct type_caster<smd::python::ModeArgument> {
  PYBIND11_TYPE_CASTER(smd::python::ModeArgument, const_name("Mode | str | None"));
  bool load(handle source, bool /*convert*/) {
    if (source.is_none()) {
      return true;
    }
    if (isinstance<smd::Mode>(source)) {
      value.mode = source.cast<smd::Mode>();
      return true;
    }
    make_caster<smd::python::Text> name;
    if (!name.load(source, false)) {
      return false;
    }
    const std::string& text = cast_op<smd::python::Text&>(name).value;
    const std::optional<smd::Mode> mode = smd::parse_mode(text);
    if (!mode) {
      throw smd::InvalidArgument("'" + text + "' is no mode: train, eval, predict or global");
    }
    value.mode = *mode;
    return true;
  }
};

/// Arrays are results only.
template <>
struct type_caster<smd::TensorValue> {
  PYBIND11_TYPE_CASTER(smd::TensorValue, const_name("numpy.ndarray"));
  static bool load(handle /*source*/, bool /*convert*/) { return false; }
  static handle cast(const smd::TensorValue& array, return_value_policy /*policy*/, handle /*parent*/) {
    return smd::python::to_array(array).release();
  }
};

template <class Tag>
struct type_caster<smd::detail::StepNumber<Tag>> {
  using Step = smd::detail::StepNumber<Tag>;
  PYBIND11_TYPE_CASTER(Step, const_name("int"));
  bool load(handle source, bool convert) {
    make_caster<std::int64_t> number;
    const bool loaded = number.load(source, convert);
    value = Step(cast_op<std::int64_t>(number));
    return loaded;
  }
  static handle cast(Step step, return_value_policy /*policy*/, handle /*parent*/) {
    return PyLong_FromLongLong(step.value);
  }
};

}  // namespace pybind11::detail
