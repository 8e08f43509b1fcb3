// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/error.hpp>
#include <smd/step.hpp>
#include <smd/tensor_view.hpp>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// What the extension modules of `smd` share: how values change between Python and C++. The modules forward to the
/// libraries; smd/__init__.py has the interface and its documentation.
namespace smd::python {

namespace py = pybind11;
using Unlocked = py::call_guard<py::gil_scoped_release>;
using Seconds = std::optional<double>;

/// Text as Python's str: bytes that are not UTF-8 become surrogates and back, as in file names.
struct Text {
  std::string value;
};

/// `smd.Mode`, its name in any case, or None, which is `Mode::global`.
struct ModeArgument {
  Mode mode = Mode::global;

  /// Nullopt for all modes.
  [[nodiscard]] std::optional<Mode> chosen() const { return mode == Mode::global ? std::nullopt : std::optional(mode); }
  [[nodiscard]] StepKey step(std::int64_t number) const noexcept { return {mode, ModeStep(number)}; }
};

[[nodiscard]] inline std::optional<std::string> plain(const std::optional<Text>& text) {
  return text ? std::optional(text->value) : std::nullopt;
}
[[nodiscard]] inline std::vector<std::string> plain(const std::vector<Text>& all) {
  std::vector<std::string> texts;
  for (const Text& text : all) {
    texts.push_back(text.value);
  }
  return texts;
}
[[nodiscard]] inline std::vector<Text> texts(const std::vector<std::string>& all) { return {all.begin(), all.end()}; }

/// Numbers that are filled here, and that an array of NumPy then owns.
template <class T>
class NewColumn {
 public:
  explicit NewColumn(std::size_t size) : data_(new T[size]), size_(size) {}

  [[nodiscard]] T* data() const noexcept { return data_.get(); }
  [[nodiscard]] T& operator[](std::size_t i) const noexcept { return data_[i]; }
  [[nodiscard]] TensorValue value(Dtype dtype, Shape shape) const {
    return {dtype, std::move(shape),
            std::shared_ptr<const std::byte[]>(data_, reinterpret_cast<const std::byte*>(data_.get())),
            size_ * sizeof(T)};
  }
  [[nodiscard]] TensorValue value(Dtype dtype) const { return value(dtype, {static_cast<std::int64_t>(size_)}); }

 private:
  std::shared_ptr<T[]> data_;
  std::size_t size_;
};

/// Returns an array of NumPy that owns the value's elements. The first call imports NumPy.
[[nodiscard]] py::object to_array(const TensorValue& value);

/// Returns a `smd.Problem`.
[[nodiscard]] py::object problem_of(const Problem& problem);

/// Raises an error of the class `smd.NAME` with these facts as attributes.
void raise(const char* name, const Error& error, const py::dict& facts);

/// Adds what `to_array` needs to a module, and makes C++'s exceptions those of `smd`.
void add_common(py::module_& module);

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
    value.value = reinterpret_borrow<pybind11::bytes>(bytes);
    return true;
  }
  static handle cast(const smd::python::Text& text, return_value_policy /*policy*/, handle /*parent*/) {
    return PyUnicode_DecodeUTF8(text.value.data(), static_cast<Py_ssize_t>(text.value.size()), "surrogateescape");
  }
};

template <>
struct type_caster<smd::python::ModeArgument> {
  PYBIND11_TYPE_CASTER(smd::python::ModeArgument, const_name("Mode | str | None"));
  bool load(handle source, bool /*convert*/) {
    if (isinstance<smd::Mode>(source)) {
      value.mode = source.cast<smd::Mode>();
    } else if (!source.is_none()) {
      const std::string given = str(source);
      const std::optional<smd::Mode> mode = smd::parse_mode(given);
      if (!mode) {
        throw smd::InvalidArgument("'" + given + "' is no mode: train, eval, predict or global");
      }
      value.mode = *mode;
    }
    return true;
  }
};

/// Arrays are results only.
template <>
struct type_caster<smd::TensorValue> {
  PYBIND11_TYPE_CASTER(smd::TensorValue, const_name("numpy.ndarray"));
  static handle cast(const smd::TensorValue& array, return_value_policy /*policy*/, handle /*parent*/) {
    return smd::python::to_array(array).release();
  }
};

template <class Tag>
struct type_caster<smd::detail::StepNumber<Tag>> {
  using Step = smd::detail::StepNumber<Tag>;
  PYBIND11_TYPE_CASTER(Step, const_name("int"));
  static handle cast(Step step, return_value_policy /*policy*/, handle /*parent*/) {
    return PyLong_FromLongLong(step.value);
  }
};

}  // namespace pybind11::detail
