// SPDX-License-Identifier: Apache-2.0
// The module smd._hook: saving.
#include "smd_python.hpp"

#include <smd/hook.hpp>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <type_traits>
#include <vector>

namespace smd::python {

namespace {

using py::literals::operator""_a;

void translate(std::exception_ptr pointer) {
  try {
    std::rethrow_exception(std::move(pointer));
  } catch (const WriteError& e) {
    const py::object problem = to_python(e.problem);
    if (e.problem.kind == ProblemKind::io) {
      problem.attr("kind") = e.tag();  // else that of reading
    }
    raise("WriteError", e, py::dict("problem"_a = problem));
  } catch (const StepAlreadySaved& e) {
    const std::string message = e.what() + std::string("; if several processes save, each needs a `worker` of its own");
    raise("StepAlreadySaved", StepAlreadySaved(message, e.worker, e.step, e.can_append),
          py::dict("worker"_a = e.worker, "step"_a = e.step, "can_append"_a = e.can_append));
  } catch (const InvalidCollectionConfiguration& e) {
    raise("InvalidCollectionConfiguration", e, py::dict("c_name"_a = e.collection));
  }
}

/// A hook that several threads may use: one at a time is in it, without Python's lock, so that it may wait.
class SharedHook {
 public:
  explicit SharedHook(HookConfig config) : hook_(made(std::move(config))) {}
  SharedHook(const SharedHook&) = delete;
  SharedHook(SharedHook&&) = delete;
  SharedHook& operator=(const SharedHook&) = delete;
  SharedHook& operator=(SharedHook&&) = delete;
  /// Closes. An error is shown as Python shows those of `__del__`.
  ~SharedHook() {
    try {
      end();
    } catch (py::error_already_set& interrupt) {
      interrupt.discard_as_unraisable("smd.compat.smdebug.Hook");
    } catch (...) {
      try {
        translate(std::current_exception());
      } catch (const std::exception& other) {
        PyErr_SetString(PyExc_RuntimeError, other.what());
      }
      PyErr_WriteUnraisable(py::str("smd.compat.smdebug.Hook").ptr());
    }
    stopped_ = true;  // if it could not be closed, the destructor of `hook_` tries again, and must not wait
  }

  /// Returns what `work(hook)` returns.
  template <class Work>
  auto use(const Work& work) {
    const Unlock unlocked;
    return enter(work);
  }

  /// Calls a method that waits until all is written. KeyboardInterrupt ends its waits for other processes and S3.
  void wait(void (Hook::*method)()) {
    interruptible([&](const std::stop_token& stop) {
      const GoOn go_on{stopped_, stop};
      const std::stop_callback pass_on(stop, [this] { stopped_ = true; });
      enter(method);
    });
  }

  void close() {
    reported_ = true;
    wait(&Hook::close);
  }

  /// Closes, unless the hook is that of a parent process. @throws what `close` throws, unless a caller has had it.
  void end() {
    if (::getpid() != made_in_) {
      return;
    }
    if (!reported_) {
      close();
      return;
    }
    try {
      use(&Hook::close);
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): a caller has had it
    }
  }

 private:
  /// Lets later calls wait again. The stop of another thread's call stays.
  struct GoOn {
    std::atomic<bool>& stopped;
    const std::stop_token& stop;
    ~GoOn() {
      if (stop.stop_requested()) {
        stopped = false;
      }
    }
  };

  Hook made(HookConfig config) {
    config.remote.stop = [this] { return stopped_.load(); };
    const Unlock unlocked;
    return Hook(std::move(config));
  }

  template <class Work>
  std::invoke_result_t<Work, Hook&> enter(const Work& work) {
    std::unique_lock lock(mutex_, std::defer_lock);
    if (::getpid() == made_in_) {  // in a forked child the thread that has the lock may be missing; calls are refused
      lock.lock();
    }
    try {
      return std::invoke(work, hook_);
    } catch (const WriteError&) {
      reported_ = true;
      throw;
    }
  }

  const pid_t made_in_ = ::getpid();
  std::mutex mutex_;
  std::atomic<bool> stopped_ = false;   // waits are to end
  std::atomic<bool> reported_ = false;  // a caller knows how the job ended: it has called `close`, or had a WriteError
  Hook hook_;                           // last: its thread uses `stopped_`
};

}  // namespace

}  // namespace smd::python

template <>
struct pybind11::detail::type_caster<smd::python::SharedHook> : made_caster<smd::python::SharedHook> {};

namespace smd::python {

namespace {

/// Returns a function that calls a method of the hook.
template <class... Arguments>
auto locked(void (Hook::*method)(Arguments...)) {
  return
      [method](SharedHook& hook, Arguments... arguments) { hook.use([&](Hook& one) { (one.*method)(arguments...); }); };
}

bool save(SharedHook& hook, const std::string& name, const TensorView& value,
          const std::vector<std::string>& collections) {
  return hook.use([&](Hook& one) { return one.save_tensor(name, value, collections); });
}

/// Elements of an array, whose type NumPy names and whose bytes are in C order.
bool save_tensor(SharedHook& hook, const std::string& name, const std::string& dtype, const Shape& shape,
                 const py::buffer& bytes, const std::vector<std::string>& collections) {
  const std::optional<Dtype> type = dtype_from_name(dtype);
  if (!type || item_size(*type) == 0) {
    throw InvalidArgument("elements of type " + dtype + " cannot be saved");
  }
  const py::buffer_info info = bytes.request();
  const auto size = static_cast<std::size_t>(info.size);
  return save(hook, name, TensorView(*type, shape, {static_cast<const std::byte*>(info.ptr), size}), collections);
}

bool save_texts(SharedHook& hook, const std::string& name, const std::vector<std::string>& texts, const Shape& shape,
                const std::vector<std::string>& collections) {
  std::string elements;
  for (const std::string& text : texts) {
    const auto size = static_cast<std::uint32_t>(text.size());  // little endian, as this machine is
    elements.append(reinterpret_cast<const char*>(&size), sizeof(size)).append(text);
  }
  return save(hook, name, TensorView(Dtype::string, shape, std::as_bytes(std::span(elements))), collections);
}

/// `worker` and `num_workers` count if the configuration leaves them as they are without one.
std::unique_ptr<SharedHook> load(const std::optional<std::string>& path, std::string worker, std::size_t num_workers) {
  HookConfig config =
      path ? HookConfig::load(*path) : HookConfig::from_environment().value_or(HookConfig{.enabled = false});
  if (config.worker == HookConfig().worker) {
    config.worker = std::move(worker);
    config.num_workers = config.num_workers == HookConfig().num_workers ? num_workers : config.num_workers;
  }
  return std::make_unique<SharedHook>(std::move(config));
}

/// `modes`: those in which the collections say when they are saved. In others the hook's configuration counts, which
/// `parse` does not know.
void add_collections(SharedHook& hook, const std::string& json, const std::vector<Mode>& modes) {
  std::vector<CollectionConfig> collections = HookConfig::parse(json, "collection").collections;
  hook.use([&](Hook& one) {
    for (CollectionConfig& collection : collections) {
      std::erase_if(collection.save_config,
                    [&](const auto& when) { return std::ranges::find(modes, when.first) == modes.end(); });
      one.add_collection(std::move(collection));
    }
  });
}

/// Returns the collections, with every setting resolved: by name, what `smd.compat.smdebug.Collection` has.
std::map<std::string, py::dict> all_collections(SharedHook& hook) {
  std::map<std::string, py::dict> all;
  for (const auto& [name, of] : hook.use([](const Hook& one) { return one.collections(); })) {
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

}  // namespace

PYBIND11_MODULE(_hook, module) {
  py::module_::import("smd._core");
  py::register_exception_translator(translate);
  py::class_<SharedHook>(module, "Hook")
      .def(py::init(
               [](const std::string& json) { return std::make_unique<SharedHook>(HookConfig::parse(json, "hook")); }),
           "json"_a)
      .def(py::init(&load), "path"_a, "worker"_a, "num_workers"_a)
      .def_property_readonly(
          "mode", [](SharedHook& hook) { return hook.use(&Hook::mode); }, "The mode of what is saved next.")
      .def_property_readonly(
          "step", [](SharedHook& hook) { return hook.use(&Hook::step); }, "The global step, counted from 0.")
      .def_property_readonly(
          "mode_step", [](SharedHook& hook) { return hook.use(&Hook::mode_step); }, "The step within its mode.")
      .def("_save_tensor", &save_tensor)
      .def("_save_texts", &save_texts)
      .def("_save_scalar", locked(&Hook::save_scalar))
      .def("set_mode", locked(&Hook::set_mode), "Sets the mode of what is saved next.")
      .def("_set_step", locked(&Hook::set_step))
      .def("next_step", locked(&Hook::next_step), "Ends the step.")
      .def("_add_collections", &add_collections)
      .def("_all_collections", &all_collections)
      .def(
          "flush", [](SharedHook& hook) { hook.wait(&Hook::flush); },
          "Ends the step and waits until everything is written.")
      .def("close", &SharedHook::close, "Ends the job: what was saved is complete.")
      .def("_end", &SharedHook::end);
}

}  // namespace smd::python
