// SPDX-License-Identifier: Apache-2.0
// The module smd._hook: saving.
#include "smd_python.hpp"

#include <smd/hook.hpp>

namespace smd::python {

namespace {

/// Elements of an array, whose type NumPy names and whose bytes are in C order.
bool save_tensor(Hook& hook, const Text& name, const std::string& dtype, const Shape& shape, const py::buffer& bytes,
                 const std::vector<std::string>& collections) {
  const std::optional<Dtype> type = dtype_from_name(dtype);
  if (!type || item_size(*type) == 0) {
    throw InvalidArgument("elements of type " + dtype + " cannot be saved");
  }
  const py::buffer_info info = bytes.request();
  const TensorView view(*type, shape, {static_cast<const std::byte*>(info.ptr), static_cast<std::size_t>(info.size)});
  const py::gil_scoped_release release;
  return hook.save_tensor(name.value, view, collections);
}

}  // namespace

PYBIND11_MODULE(_hook, module) {
  py::module_::import("smd._core");
  py::class_<Hook>(module, "Hook")
      .def(py::init([](const std::string& json) { return Hook(HookConfig::parse(json, "hook")); }))
      .def_static("from_environment",
                  [] { return Hook(HookConfig::from_environment().value_or(HookConfig{.enabled = false})); })
      .def_static("load", [](const Text& path) { return Hook(HookConfig::load(path.value)); })
      .def_property_readonly("mode", &Hook::mode)
      .def_property_readonly("step", &Hook::step)
      .def_property_readonly("mode_step", &Hook::mode_step)
      .def("save_tensor", &save_tensor)
      .def("wants", [](Hook& hook, const Text& name) { return hook.wants(name.value); })
      .def(
          "save_scalar", [](Hook& hook, const Text& name, double value) { hook.save_scalar(name.value, value); },
          Unlocked())
      .def(
          "set_mode", [](Hook& hook, ModeArgument mode) { hook.set_mode(mode.mode); }, Unlocked())
      .def(
          "set_step",
          [](Hook& hook, std::int64_t step) { hook.set_step(GlobalStep(step), hook.mode(), ModeStep(step)); },
          Unlocked())
      .def("next_step", &Hook::next_step, Unlocked())
      .def("add_collection",
           [](Hook& hook, const std::string& json) {
             for (CollectionConfig& collection : HookConfig::parse(json, "collection").collections) {
               hook.add_collection(std::move(collection));
             }
           })
      .def("collection_names",
           [](const Hook& hook) {
             std::vector<Text> names;
             for (const auto& [name, collection] : hook.collections()) {
               names.push_back({name});
             }
             return names;
           })
      .def("flush", &Hook::flush, Unlocked())
      .def("close", &Hook::close, Unlocked());
}

}  // namespace smd::python
