// SPDX-License-Identifier: Apache-2.0
// The module smd._hook: saving.
#include "smd_python.hpp"

#include <smd/hook.hpp>

#include <map>
#include <vector>

template <>
struct pybind11::detail::type_caster<smd::Hook> : made_caster<smd::Hook> {};

namespace smd::python {

namespace {

using py::literals::operator""_a;

/// Elements of an array, whose type NumPy names and whose bytes are in C order.
bool save_tensor(Hook& hook, const std::string& name, const std::string& dtype, const Shape& shape,
                 const py::buffer& bytes, const std::vector<std::string>& collections) {
  const std::optional<Dtype> type = dtype_from_name(dtype);
  if (!type || item_size(*type) == 0) {
    throw InvalidArgument("elements of type " + dtype + " cannot be saved");
  }
  const py::buffer_info info = bytes.request();
  const TensorView view(*type, shape, {static_cast<const std::byte*>(info.ptr), static_cast<std::size_t>(info.size)});
  const py::gil_scoped_release release;
  return hook.save_tensor(name, view, collections);
}

Hook load(const std::optional<std::string>& path) {
  return Hook(path ? HookConfig::load(*path) : HookConfig::from_environment().value_or(HookConfig{.enabled = false}));
}

void add_collections(Hook& hook, const std::string& json) {
  for (CollectionConfig& collection : HookConfig::parse(json, "collection").collections) {
    hook.add_collection(std::move(collection));
  }
}

/// Returns the collections, with every setting resolved: by name, what `smd.compat.smdebug.Collection` has.
std::map<std::string, py::dict> all_collections(const Hook& hook) {
  std::map<std::string, py::dict> all;
  for (const auto& [name, of] : hook.collections()) {
    py::dict steps;
    for (const auto& [mode, when] : of.save_config) {
      steps[py::cast(mode)] = py::dict("save_interval"_a = when.save_interval, "start_step"_a = when.start_step,
                                       "end_step"_a = when.end_step, "save_steps"_a = when.save_steps);
    }
    const ReductionConfig what = of.reduction_config.value_or(ReductionConfig());
    all[name] = py::dict("include_regex"_a = of.include_regex, "tensor_names"_a = of.tensor_names,
                         "save_histogram"_a = of.save_histogram, "save_config"_a = steps,
                         "save_raw_tensor"_a = what.save_raw_tensor, "save_shape"_a = what.save_shape,
                         "reductions"_a = what.reductions);
  }
  return all;
}

void translate(std::exception_ptr pointer) {
  try {
    std::rethrow_exception(std::move(pointer));
  } catch (const WriteError& e) {
    raise("WriteError", e, py::dict("problem"_a = e.problem));
  } catch (const StepAlreadySaved& e) {
    raise("StepAlreadySaved", e, py::dict("worker"_a = e.worker, "step"_a = e.step, "can_append"_a = e.can_append));
  }
}

}  // namespace

PYBIND11_MODULE(_hook, module) {
  py::module_::import("smd._core");
  py::register_exception_translator(translate);
  py::class_<Hook>(module, "Hook")
      .def(py::init([](const std::string& json) { return Hook(HookConfig::parse(json, "hook")); }), "json"_a)
      .def(py::init(&load), "path"_a)
      .def_property_readonly("mode", &Hook::mode)
      .def_property_readonly("step", &Hook::step)
      .def_property_readonly("mode_step", &Hook::mode_step)
      .def("_save_tensor", &save_tensor)
      .def("_save_scalar", &Hook::save_scalar, Unlocked())
      .def("set_mode", &Hook::set_mode, Unlocked(), "Sets the mode of what is saved next.")
      .def("_set_step", &Hook::set_step, Unlocked())
      .def("next_step", &Hook::next_step, Unlocked(), "Ends the step.")
      .def("_add_collections", &add_collections)
      .def("_all_collections", &all_collections)
      .def("flush", &Hook::flush, Unlocked(), "Waits until everything is written.")
      .def("close", &Hook::close, Unlocked(), "Ends the job: what was saved is complete.");
}

}  // namespace smd::python
