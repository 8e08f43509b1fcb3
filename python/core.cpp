// SPDX-License-Identifier: Apache-2.0
// The module smd._core: reading.
#include "columns.hpp"
#include "smd_python.hpp"

#include <smd/difference.hpp>
#include <smd/find.hpp>
#include <smd/follow.hpp>
#include <smd/refresh.hpp>
#include <smd/version.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <map>
#include <memory>

namespace smd::python {

namespace {

using py::literals::operator""_a;

/// Calls `work(stop)` in another thread while this one looks for signals: KeyboardInterrupt requests a stop.
template <class Work>
auto interruptible(const Work& work) {
  std::stop_source stop;
  const py::gil_scoped_release release;
  auto result = std::async(std::launch::async, [&] { return work(stop.get_token()); });
  while (result.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready) {
    const py::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() != 0) {
      const py::error_already_set signal;
      stop.request_stop();
      const py::gil_scoped_release again;
      result.wait();
      throw signal;
    }
  }
  return result.get();
}

WaitOptions wait_options(Seconds timeout, Seconds idle, Seconds interval, std::stop_token stop) {
  const auto duration = [](double seconds) {
    return std::chrono::nanoseconds(static_cast<std::int64_t>(std::clamp(seconds, 0.0, 1e9) * 1e9));
  };
  WaitOptions wait{.stop = std::move(stop)};
  if (timeout) {
    wait.deadline = std::chrono::steady_clock::now() + duration(*timeout);
  }
  if (idle) {
    wait.idle = duration(*idle);
  }
  if (interval) {
    wait.interval = std::chrono::duration_cast<std::chrono::milliseconds>(duration(*interval));
  }
  return wait;
}

std::string name_of(WaitOutcome outcome) {
  switch (outcome) {
    case WaitOutcome::reached:
      return "reached";
    case WaitOutcome::ended:
      return "ended";
    case WaitOutcome::timed_out:
      return "timed_out";
    case WaitOutcome::idle:
      return "idle";
    case WaitOutcome::stopped:
      break;
  }
  return "stopped";
}

std::string name_of(FollowEvent::Kind kind) {
  switch (kind) {
    case FollowEvent::Kind::step:
      return "step";
    case FollowEvent::Kind::ended:
      return "ended";
    case FollowEvent::Kind::timed_out:
      return "timed_out";
    case FollowEvent::Kind::idle:
      return "idle";
    case FollowEvent::Kind::stopped:
      break;
  }
  return "stopped";
}

class Follower {
 public:
  Follower(const Trial& trial, Seconds idle, Seconds timeout, Seconds interval, std::optional<std::int64_t> after)
      : follower_(trial, {.wait = wait_options(timeout, idle, interval, stop_.get_token()),
                          .after = after ? std::optional(GlobalStep(*after)) : std::nullopt}) {}

  std::pair<std::string, GlobalStep> next() {
    const FollowEvent event = interruptible([this](const std::stop_token& stop) {
      const std::stop_callback pass_on(stop, [this] { stop_.request_stop(); });
      return follower_.next();
    });
    return {name_of(event.kind), event.step};
  }

 private:
  std::stop_source stop_;
  StepFollower follower_;
};

using Bounds = std::pair<std::optional<std::int64_t>, std::optional<std::int64_t>>;

StepRange range_of(const Bounds& steps) {
  if (!steps.first && !steps.second) {
    return {};  // of a bounded range, nothing is held as it lies in a log
  }
  return StepRange::between(GlobalStep(steps.first.value_or(INT64_MIN)),
                            steps.second ? std::optional(GlobalStep(*steps.second)) : std::nullopt);
}

/// Opens a trial with the options of `smd.open`.
Trial open(const Text& path, py::dict given) {
  TrialOptions trial;
  Seconds timeout;
  const auto take = [&](const char* name, auto& into) {
    if (given.contains(name)) {
      into = given.attr("pop")(name).template cast<std::decay_t<decltype(into)>>();
    }
  };
  Bounds range_steps;
  std::optional<std::size_t> newest;
  std::optional<std::size_t> oldest;
  std::string superseded = "left_out";
  take("name", trial.name);
  take("layout", trial.layout);
  take("step_name", trial.step_name);
  take("range_steps", range_steps);
  take("newest", newest);
  take("oldest", oldest);
  take("jobs", trial.jobs);
  take("verify", trial.verify);
  take("strict", trial.strict);
  take("as_it_stands", trial.as_it_stands);
  take("superseded", superseded);
  take("auto_refresh", trial.auto_refresh);
  take("incomplete_step_wait_window", trial.incomplete_step_wait_window);
  take("endpoint_url", trial.remote.endpoint_url);
  take("region", trial.remote.region);
  take("profile", trial.remote.profile);
  take("sign_requests", trial.remote.sign_requests);
  take("requester_pays", trial.remote.requester_pays);
  take("cache", trial.remote.cache);
  take("timeout", timeout);
  if (!given.empty()) {
    throw py::type_error("open() has no option " + py::repr(py::list(given)[0]).cast<std::string>());
  }
  trial.range_steps = newest ? StepRange::newest(*newest) : oldest ? StepRange::oldest(*oldest) : range_of(range_steps);
  if (superseded != "left_out" && superseded != "only" && superseded != "included") {
    throw InvalidArgument("superseded is left_out, only or included, not '" + superseded + "'");
  }
  trial.superseded = superseded == "only"       ? Superseded::only
                     : superseded == "included" ? Superseded::included
                                                : Superseded::left_out;
  return interruptible([&](const std::stop_token& stop) {
    const auto stopped = std::make_shared<std::atomic<bool>>(false);  // the trial keeps it
    const std::stop_callback on_stop(stop, [&] { *stopped = true; });
    trial.remote.stop = [stopped] { return stopped->load(); };
    if (timeout) {
      if (auto there = Trial::open_when_there(path.value, trial, wait_options(timeout, {}, {}, stop))) {
        return *std::move(there);
      }
    }
    return Trial::open(path.value, trial);  // also to say what there is instead
  });
}

py::list problems_of(const std::vector<Problem>& problems) {
  py::list all;
  for (const Problem& problem : problems) {
    all.append(problem_of(problem));
  }
  return all;
}

py::object collection_of(const Collection& one) {
  return py::module_::import("smd").attr("Collection")("name"_a = Text{one.name},
                                                       "tensor_names"_a = texts(one.tensor_names),
                                                       "include_regex"_a = texts(one.include_regex));
}

py::dict facts_of(const Difference& d) {
  return py::dict("size"_a = d.size, "differing"_a = d.differing, "first"_a = d.first, "same_dtype"_a = d.same_dtype,
                  "max_abs"_a = d.max_abs, "max_rel"_a = d.max_rel, "mean_abs"_a = d.mean_abs, "rmse"_a = d.rmse,
                  "l2_a"_a = d.l2_a, "l2_b"_a = d.l2_b, "l2_diff"_a = d.l2_diff, "rel_l2"_a = d.rel_l2,
                  "cosine"_a = d.cosine);
}

/// Returns the last step at which the tensor has a value.
StepKey last_step(const Tensor& tensor, ModeArgument mode) {
  const std::vector<TensorEntry> entries = tensor.entries();
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    if (entry->value && (!mode.chosen() || entry->mode == mode.mode)) {
      return mode.chosen() ? StepKey(mode.mode, entry->mode_step) : StepKey(entry->step);
    }
  }
  throw TensorUnavailableForStep("no value of '" + tensor.name() + "' was saved", tensor.name(), mode.step(-1), {});
}

using Worker = std::optional<Text>;

void add_tensor(py::module_& module) {
  py::class_<Tensor>(module, "Tensor")
      .def(py::init([](const Trial& trial, const Text& name) { return trial.tensor(name.value); }), Unlocked())
      .def_property_readonly("name", [](const Tensor& t) { return Text{t.name()}; })
      .def_property_readonly("original_name", [](const Tensor& t) { return t.original_name(); })
      .def(
          "_steps", [](const Tensor& t, ModeArgument mode, bool all) { return t.steps(mode.mode, all); }, Unlocked())
      .def(
          "_value",
          [](const Tensor& t, std::optional<std::int64_t> step, ModeArgument mode, const Worker& worker) {
            return t.value(step ? mode.step(*step) : last_step(t, mode), plain(worker));
          },
          Unlocked())
      .def(
          "_shape",
          [](const Tensor& t, std::int64_t step, ModeArgument mode, const Worker& worker) {
            return t.shape(mode.step(step), plain(worker));
          },
          Unlocked())
      .def(
          "_reduction_value",
          [](const Tensor& t, std::int64_t step, const Text& name, bool abs, ModeArgument mode, const Worker& worker) {
            return t.reduction_value(mode.step(step), name.value, abs, plain(worker));
          },
          Unlocked())
      .def(
          "_reduction_values",
          [](const Tensor& t, std::int64_t step, ModeArgument mode, const Worker& worker) {
            std::map<std::pair<std::string, bool>, TensorValue> all;
            for (const auto& [key, value] : t.reduction_values(mode.step(step), plain(worker))) {
              all.emplace(std::pair(key.name, key.abs), value);
            }
            return all;
          },
          Unlocked())
      .def(
          "_workers",
          [](const Tensor& t, std::int64_t step, ModeArgument mode) { return texts(t.workers(mode.step(step))); },
          Unlocked())
      .def(
          "_prev_steps",
          [](const Tensor& t, std::int64_t step, std::optional<std::size_t> n, ModeArgument mode) {
            return t.prev_steps(mode.step(step), n);
          },
          Unlocked());
}

void add_trial(py::module_& module) {
  py::class_<Follower>(module, "Follower")
      .def(py::init<const Trial&, Seconds, Seconds, Seconds, std::optional<std::int64_t>>(), py::keep_alive<1, 2>())
      .def("next", &Follower::next);
  py::class_<NoRefresh>(module, "NoRefresh").def(py::init<const std::vector<const Trial*>&>());
  py::class_<Refresh>(module, "Refresh").def(py::init<const std::vector<const Trial*>&>());
  py::class_<Trial>(module, "Trial")
      .def(py::init(&open))
      .def_property_readonly("name", [](const Trial& t) { return Text{t.name()}; })
      .def_property_readonly("path", [](const Trial& t) { return Text{t.path()}; })
      .def_property_readonly("layout", [](const Trial& t) { return std::string(t.layout().name); })
      .def_property_readonly("remote", &Trial::remote)
      .def_property_readonly("problems", [](const Trial& t) { return problems_of(t.problems()); })
      .def_property_readonly("ended", &Trial::ended)
      .def_property_readonly("exit_code", &Trial::exit_code)
      .def_property_readonly("num_workers", &Trial::num_workers)
      .def_property_readonly("last_complete_step", &Trial::last_complete_step)
      .def_property_readonly("hyperparameters", [](const Trial& t) { return t.hyperparameters().values; })
      .def(
          "_has_tensor", [](const Trial& t, const Text& name) { return t.has_tensor(name.value); }, Unlocked())
      .def(
          "_tensor_names",
          [](const Trial& t, const std::vector<Text>& regex, const std::vector<Text>& collection,
             const std::vector<Text>& names, const std::vector<Text>& exclude, std::optional<std::int64_t> step,
             ModeArgument mode) {
            TensorQuery query{.names = plain(names),
                              .regex = plain(regex),
                              .collections = plain(collection),
                              .exclude = plain(exclude)};
            query.step = step ? std::optional(mode.step(*step)) : std::nullopt;
            query.mode = step ? std::nullopt : mode.chosen();
            return texts(t.tensor_names(query));
          },
          Unlocked())
      .def(
          "_steps", [](const Trial& t, ModeArgument mode, bool all) { return t.steps(mode.mode, all); }, Unlocked())
      .def("_modes", &Trial::modes, Unlocked())
      .def(
          "_mode", [](const Trial& t, std::int64_t step) { return t.mode(GlobalStep(step)); }, Unlocked())
      .def(
          "_mode_step", [](const Trial& t, std::int64_t step) { return t.mode_step(GlobalStep(step)); }, Unlocked())
      .def(
          "_global_step",
          [](const Trial& t, ModeArgument mode, std::int64_t step) { return t.global_step(mode.mode, ModeStep(step)); },
          Unlocked())
      .def(
          "_workers", [](const Trial& t) { return texts(t.workers()); }, Unlocked())
      .def("_collections",
           [](const Trial& t) {
             py::dict all;
             for (const auto& [name, collection] : t.collections()) {
               all[py::cast(Text{name})] = collection_of(collection);
             }
             return all;
           })
      .def("_collection",
           [](const Trial& t, const Text& name) {
             const std::optional<Collection> one = t.collection(name.value);
             return one ? collection_of(*one) : py::none();
           })
      .def(
          "_state",
          [](const Trial& t, std::int64_t step, ModeArgument mode) { return t.has_passed_step(mode.step(step)); },
          Unlocked())
      .def("_wait",
           [](const Trial& t, const std::vector<std::int64_t>& steps, ModeArgument mode, Seconds timeout, Seconds idle,
              Seconds interval) {
             std::vector<StepKey> keys;
             for (const std::int64_t step : steps) {
               keys.push_back(mode.step(step));
             }
             return name_of(interruptible([&](const std::stop_token& stop) {
               return t.wait_for_steps(keys, wait_options(timeout, idle, interval, stop));
             }));
           })
      .def("_refresh", &Trial::refresh, Unlocked())
      .def(
          "_load_range", [](Trial& t, const Bounds& steps) { t.load_range(range_of(steps)); }, Unlocked())
      .def(
          "_numbers",
          [](const Trial& t, const Text& name, ModeArgument mode, const Worker& worker, bool times) {
            const auto series = number_series(t, name.value, {mode.mode, plain(worker)}, times);
            return series ? std::optional(std::tuple(series->steps, series->numbers, series->times, series->workers))
                          : std::nullopt;
          },
          Unlocked())
      .def(
          "_values",
          [](const Trial& t, const Text& name, ModeArgument mode, const Worker& worker) {
            ValueSeries series = value_series(t, name.value, {mode.mode, plain(worker)});
            return std::tuple(series.steps, std::move(series.values), series.stacked, series.times);
          },
          Unlocked())
      .def(
          "_places",
          [](const Trial& t, const Text& name) {
            std::vector<std::pair<GlobalStep, Text>> places;
            t.for_each_entry({.tensors = {name.value}}, [&](const TensorEntry& entry) {
              if (entry.value) {
                places.emplace_back(entry.step, Text{std::string(entry.worker)});
              }
              return true;
            });
            return places;
          },
          Unlocked())
      .def(
          "_reduce",
          [](const Trial& t, const Text& name, const std::vector<Text>& names, ModeArgument mode,
             const Worker& worker) {
            return reduced_series(t, name.value, plain(names), {mode.mode, plain(worker)});
          },
          Unlocked());
}

}  // namespace

PYBIND11_MODULE(_core, module) {
  module.attr("__version__") = SMD_VERSION_STRING;
  py::enum_<Mode>(module, "Mode")
      .value("TRAIN", Mode::train)
      .value("EVAL", Mode::eval)
      .value("PREDICT", Mode::predict)
      .value("GLOBAL", Mode::global);
  py::enum_<StepState>(module, "StepState")
      .value("UNAVAILABLE", StepState::unavailable)
      .value("AVAILABLE", StepState::available)
      .value("NOT_YET_AVAILABLE", StepState::not_yet_available);
  add_common(module);
  add_tensor(module);
  add_trial(module);
  module.def("find", [](const Text& path, const std::string& layout) {
    std::vector<Problem> problems;
    TrialOptions options;
    options.layout = layout;
    const std::vector<std::string> found = interruptible([&](const std::stop_token& stop) {
      options.remote.stop = [&stop] { return stop.stop_requested(); };
      return find_trials(path.value, &problems, options);
    });
    return std::pair(texts(found), problems_of(problems));
  });
  // Both values are held in memory; smd-diff holds blocks of them.
  module.def("compare", [](const Tensor& a, const Tensor& b, std::int64_t step, const Text& worker, double rtol,
                           double atol, bool equal_nan) {
    Comparer comparer({.rtol = rtol, .atol = atol, .equal_nan = equal_nan});
    {
      const py::gil_scoped_release release;
      const TensorValue of_a = a.value(GlobalStep(step), worker.value);
      const TensorValue of_b = b.value(GlobalStep(step), worker.value);
      comparer.add(of_a.view(), of_b.view());
    }
    return facts_of(comparer.result());
  });
}

}  // namespace smd::python
