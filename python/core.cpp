// SPDX-License-Identifier: Apache-2.0
// The module smd._core: reading. It forwards to libsmd and decides nothing.
#include "columns.hpp"
#include "convert.hpp"

#include <smd/difference.hpp>
#include <smd/find.hpp>
#include <smd/follow.hpp>
#include <smd/refresh.hpp>
#include <smd/version.hpp>

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>

namespace smd::python {

namespace {

using Unlocked = py::call_guard<py::gil_scoped_release>;
using Seconds = std::optional<double>;

/// Calls `work` with a stop token in another thread while this one, if it is Python's main thread, looks for signals:
/// KeyboardInterrupt requests a stop.
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

WaitOptions wait_options(const Seconds& timeout, const Seconds& idle, const Seconds& interval, std::stop_token stop) {
  const auto nanoseconds = [](double seconds) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(std::min(seconds, 1e9)));
  };
  WaitOptions wait;
  wait.stop = std::move(stop);
  if (timeout) {
    wait.deadline = std::chrono::steady_clock::now() + nanoseconds(*timeout);
  }
  if (idle) {
    wait.idle = nanoseconds(*idle);
  }
  if (interval) {
    wait.interval = std::chrono::duration_cast<std::chrono::milliseconds>(nanoseconds(*interval));
  }
  return wait;
}

std::string_view name_of(WaitOutcome outcome) {
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

/// The steps of a trial as they become complete.
class Steps {
 public:
  Steps(const Trial& trial, const Seconds& timeout, const Seconds& idle, const Seconds& interval,
        std::optional<GlobalStep> after)
      : follower_(trial, {.wait = wait_options(timeout, idle, interval, stop_.get_token()), .after = after}) {}

  std::int64_t next() {
    const FollowEvent event = interruptible([this](const std::stop_token& stop) {
      const std::stop_callback pass_on(stop, [this] { stop_.request_stop(); });
      return follower_.next();
    });
    outcome_ = event.kind;
    if (event.kind != FollowEvent::Kind::step) {
      throw py::stop_iteration();
    }
    return event.step.value;
  }

  /// Returns why the iteration ended; nullopt while it goes on.
  [[nodiscard]] std::optional<std::string> outcome() const {
    switch (outcome_) {
      case FollowEvent::Kind::step:
        return std::nullopt;
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

 private:
  std::stop_source stop_;
  StepFollower follower_;
  FollowEvent::Kind outcome_ = FollowEvent::Kind::step;
};

/// `with` turns refreshing off or on.
class Refreshing {
 public:
  Refreshing(std::vector<const Trial*> trials, bool refresh) : trials_(std::move(trials)), refresh_(refresh) {}
  void enter() {
    if (refresh_) {
      guard_.emplace<std::unique_ptr<Refresh>>(std::make_unique<Refresh>(trials_));
    } else {
      guard_.emplace<std::unique_ptr<NoRefresh>>(std::make_unique<NoRefresh>(trials_));
    }
  }
  void leave() { guard_.emplace<std::unique_ptr<NoRefresh>>(); }

 private:
  std::vector<const Trial*> trials_;
  bool refresh_;
  std::variant<std::unique_ptr<NoRefresh>, std::unique_ptr<Refresh>> guard_;
};

StepRange range_of(const std::optional<std::pair<std::optional<std::int64_t>, std::optional<std::int64_t>>>& steps,
                   std::optional<std::size_t> newest, std::optional<std::size_t> oldest) {
  if (newest) {
    return StepRange::newest(*newest);
  }
  if (oldest) {
    return StepRange::oldest(*oldest);
  }
  if (!steps) {
    return {};
  }
  return StepRange::between(GlobalStep(steps->first.value_or(INT64_MIN)),
                            steps->second ? std::optional(GlobalStep(*steps->second)) : std::nullopt);
}

Superseded superseded_of(const std::string& name) {
  if (name == "left_out" || name == "only" || name == "included") {
    return name == "only" ? Superseded::only : name == "included" ? Superseded::included : Superseded::left_out;
  }
  throw InvalidArgument("superseded is left_out, only or included, not '" + name + "'");
}

/// Options of `open`, each with its default.
struct OpenOptions {
  TrialOptions trial;
  Seconds timeout;
};

OpenOptions options_from(const py::kwargs& given) {
  OpenOptions options;
  const py::dict left = given.attr("copy")();
  const auto take = [&](const char* name, auto& into) {
    if (left.contains(name)) {
      into = left.attr("pop")(name).template cast<std::decay_t<decltype(into)>>();
    }
  };
  const auto take_text = [&](const char* name, std::string& into) {
    std::optional<Path> text;
    take(name, text);
    into = text ? text->value : into;
  };
  TrialOptions& trial = options.trial;
  std::optional<std::pair<std::optional<std::int64_t>, std::optional<std::int64_t>>> range_steps;
  std::optional<std::size_t> newest;
  std::optional<std::size_t> oldest;
  std::string superseded = "left_out";
  take_text("name", trial.name);
  take_text("layout", trial.layout);
  take_text("step_name", trial.step_name);
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
  take_text("endpoint_url", trial.remote.endpoint_url);
  take_text("region", trial.remote.region);
  take_text("profile", trial.remote.profile);
  take("sign_requests", trial.remote.sign_requests);
  take("requester_pays", trial.remote.requester_pays);
  take_text("cache", trial.remote.cache);
  take("timeout", options.timeout);
  if (!left.empty()) {
    throw py::type_error("open() has no option " + py::repr(py::list(left)[0]).cast<std::string>());
  }
  trial.range_steps = range_of(range_steps, newest, oldest);
  trial.superseded = superseded_of(superseded);
  return options;
}

std::optional<std::string> plain(const std::optional<Text>& text) {
  return text ? std::optional(text->value) : std::nullopt;
}

Trial open(const Path& path, const py::kwargs& given) {
  OpenOptions options = options_from(given);
  return interruptible([&](const std::stop_token& stop) {
    options.trial.remote.stop = [stop] { return stop.stop_requested(); };
    if (!options.timeout) {
      return Trial::open(path.value, options.trial);
    }
    const WaitOptions wait = wait_options(options.timeout, {}, {}, stop);
    std::optional<Trial> trial = Trial::open_when_there(path.value, options.trial, wait);
    return trial ? *std::move(trial) : Trial::open(path.value, options.trial);  // which says what there is
  });
}

std::vector<Text> find(const Path& path, const std::string& layout) {
  std::vector<Problem> problems;
  std::vector<std::string> found;
  {
    const py::gil_scoped_release release;
    TrialOptions options;
    options.layout = layout;
    found = find_trials(path.value, &problems, options);
  }
  for (const Problem& problem : problems) {
    if (problem.kind != ProblemKind::remark && PyErr_WarnEx(nullptr, to_string(problem).c_str(), 1) != 0) {
      throw py::error_already_set();
    }
  }
  return texts(found);
}

TensorQuery query_of(const Texts& regex, const Texts& names, const Texts& collection, const Texts& exclude,
                     std::optional<std::int64_t> step, const ModeArgument& mode) {
  TensorQuery query;
  query.regex = regex.all;
  query.names = names.all;
  query.collections = collection.all;
  query.exclude = exclude.all;
  if (step) {
    query.step = mode.step(*step);
  } else {
    query.mode = mode.chosen();
  }
  return query;
}

/// Makes a `smd.Table` of columns.
py::object table_of(const std::vector<std::pair<std::string, TensorValue>>& columns) {
  const py::object table = py::module_::import("smd").attr("Table")();
  for (const auto& [name, column] : columns) {
    table[py::cast(Text{name})] = py::cast(column);
  }
  return table;
}

py::object scalars(const Trial& trial, const Texts& regex, const Texts& names, const Texts& collection,
                   const ModeArgument& mode, const std::optional<Text>& worker, bool wide, bool wall_time) {
  ScalarTable table;
  {
    const py::gil_scoped_release release;
    const TensorQuery query = query_of(regex, names, collection, {}, {}, mode);
    table = scalar_table(trial, trial.tensor_names(query), {mode.mode, plain(worker)}, wide, wall_time);
  }
  const py::object made = table_of(table.columns);
  if (!wide) {
    py::list whose(0);
    for (const auto& [name, rows] : table.tensors) {
      whose.attr("extend")(py::list(py::make_tuple(Text{name})).attr("__mul__")(rows));
    }
    made[py::str("tensor")] = py::module_::import("numpy").attr("array")(whose, "object");
  }
  return made;
}

py::object values(const Trial& trial, const std::string& tensor, const ModeArgument& mode,
                  const std::optional<Text>& worker, bool wall_time) {
  Series series;
  {
    const py::gil_scoped_release release;
    series = value_series(trial, tensor, {mode.mode, plain(worker)});
  }
  py::object data;
  if (const auto* const several = std::get_if<std::vector<TensorValue>>(&series.data)) {
    data = py::module_::import("numpy").attr("empty")(several->size(), "object");
    for (std::size_t i = 0; i < several->size(); ++i) {
      data[py::int_(i)] = to_array((*several)[i]);
    }
  } else {
    data = to_array(std::get<TensorValue>(series.data));
  }
  return wall_time ? py::make_tuple(series.steps, data, series.times) : py::make_tuple(series.steps, data);
}

/// What one pair of values, or a value that only one of two trials has, is in a comparison.
struct DiffRow {
  std::string tensor;
  GlobalStep step;
  std::string worker;
  std::optional<std::string> only_in;  ///< `a` or `b`
  Difference difference;
};

/// Compares two values block by block, so that neither need fit in memory.
Difference difference_of(const Trial& a, const Trial& b, const WantedValue& in_a, const WantedValue& in_b,
                         const DifferenceOptions& options) {
  Comparer comparer(options);
  ValueReader reader_a(a);
  ValueReader reader_b(b);
  Extent* const of_a = reader_a.open(in_a.place, in_a.name);
  Extent* const of_b = reader_b.open(in_b.place, in_b.name);
  const auto require = [](bool good, ValueReader& reader) {
    if (!good) {
      throw ReadError(reader.problem().value_or(Problem{ProblemKind::io, {}, {}, "cannot be read"}));
    }
  };
  require(of_a != nullptr, reader_a);
  require(of_b != nullptr, reader_b);
  if (of_a->dtype() == Dtype::string || of_b->dtype() == Dtype::string || of_a->size() != of_b->size()) {
    const std::optional<TensorValue> whole_a = of_a->value();
    const std::optional<TensorValue> whole_b = of_b->value();
    require(whole_a.has_value(), reader_a);
    require(whole_b.has_value(), reader_b);
    comparer.add(whole_a->view(), whole_b->view());  // refuses other sizes, and says so
    return comparer.result();
  }
  const std::size_t most = Extent::block_bytes / std::max(item_size(of_a->dtype()), item_size(of_b->dtype()));
  for (std::uint64_t done = 0; done < of_a->size();) {
    const std::span<const std::byte> block_a = of_a->view(done, most);
    require(!block_a.empty(), reader_a);
    const std::size_t count = block_a.size() / item_size(of_a->dtype());
    std::vector<std::byte> block_b(count * item_size(of_b->dtype()));
    require(of_b->read(done, block_b), reader_b);
    const Shape shape = {static_cast<std::int64_t>(count)};
    comparer.add(TensorView(of_a->dtype(), shape, block_a), TensorView(of_b->dtype(), shape, block_b));
    done += count;
  }
  return comparer.result();
}

std::vector<DiffRow> diff(const Trial& a, const Trial& b, const Texts& regex, double rtol, double atol,
                          bool equal_nan) {
  const DifferenceOptions options{.rtol = rtol, .atol = atol, .equal_nan = equal_nan};
  std::vector<DiffRow> rows;
  const std::vector<std::string> names_a = a.tensor_names({.regex = regex.all});
  const std::vector<std::string> names_b = b.tensor_names({.regex = regex.all});
  std::vector<std::string> names;
  std::set_union(names_a.begin(), names_a.end(), names_b.begin(), names_b.end(), std::back_inserter(names));
  using Key = std::pair<GlobalStep, std::string>;
  const auto places = [](const Trial& trial, const std::string& name) {
    std::map<Key, Place> all;
    trial.for_each_entry({.tensors = {name}}, [&](const TensorEntry& entry) {
      if (entry.value) {
        all.emplace(Key(entry.step, entry.worker), *entry.value);
      }
      return true;
    });
    return all;
  };
  for (const std::string& name : names) {
    const std::map<Key, Place> of_a = places(a, name);
    std::map<Key, Place> of_b = places(b, name);
    for (const auto& [key, place] : of_a) {
      DiffRow& row = rows.emplace_back(DiffRow{name, key.first, key.second, "a", {}});
      if (const auto found = of_b.find(key); found != of_b.end()) {
        row.only_in.reset();
        row.difference = difference_of(a, b, {place, name}, {found->second, name}, options);
        of_b.erase(found);
      }
    }
    for (const auto& [key, place] : of_b) {
      rows.push_back({name, key.first, key.second, "b", {}});
    }
  }
  return rows;
}

/// A tensor and the trial through which it is read, kept alive.
struct TrialTensor {
  py::object kept;
  const Trial* trial;
  Tensor tensor;
};

TrialTensor tensor_of(const py::object& trial, const Text& name) {
  const auto& of = trial.cast<const Trial&>();
  const auto tensor = [&] {
    const py::gil_scoped_release release;
    return of.tensor(name.value);
  };
  return {trial, &of, tensor()};
}

/// Returns the last step at which the tensor has a value.
StepKey last_step(const Tensor& tensor, const ModeArgument& mode) {
  const std::vector<TensorEntry> entries = tensor.entries();
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    if (entry->value && (mode.mode == Mode::global || entry->mode == mode.mode)) {
      return mode.mode == Mode::global ? StepKey(entry->step) : StepKey(mode.mode, entry->mode_step);
    }
  }
  throw TensorUnavailableForStep("no value of '" + tensor.name() + "' was saved", tensor.name(), mode.step(-1), {});
}

void add_values(py::module_& module) {
  py::enum_<Mode>(module, "Mode", "What a job was doing at a step. GLOBAL: no mode was set; in questions: all modes.")
      .value("TRAIN", Mode::train)
      .value("EVAL", Mode::eval)
      .value("PREDICT", Mode::predict)
      .value("GLOBAL", Mode::global);
  py::enum_<StepState>(module, "StepState", "Whether a step can be read: now, never, or perhaps later.")
      .value("UNAVAILABLE", StepState::unavailable)
      .value("AVAILABLE", StepState::available)
      .value("NOT_YET_AVAILABLE", StepState::not_yet_available);
  py::class_<Problem>(module, "Problem", "What is wrong with a file or record, and where.")
      .def_property_readonly("kind", [](const Problem& problem) { return std::string(to_string(problem.kind)); })
      .def_property_readonly("file", [](const Problem& problem) { return Text{problem.file}; })
      .def_readonly("offset", &Problem::offset)
      .def_property_readonly("text", [](const Problem& problem) { return Text{problem.text}; })
      .def("__str__", [](const Problem& problem) { return Text{to_string(problem)}; })
      .def("__repr__", [](const Problem& problem) { return Text{"<smd.Problem " + to_string(problem) + ">"}; });
  py::class_<Collection>(module, "Collection", "A named set of tensors: those listed, and those that a pattern finds.")
      .def_property_readonly("name", [](const Collection& one) { return Text{one.name}; })
      .def_property_readonly("tensor_names", [](const Collection& one) { return texts(one.tensor_names); })
      .def_property_readonly("include_regex", [](const Collection& one) { return texts(one.include_regex); })
      .def("__repr__", [](const Collection& one) { return Text{"<smd.Collection " + one.name + ">"}; });
  py::class_<DiffRow> row(module, "Difference", "What differs between two values of one name, step and worker.");
  row.def_property_readonly("tensor", [](const DiffRow& one) { return Text{one.tensor}; })
      .def_readonly("step", &DiffRow::step)
      .def_property_readonly("worker", [](const DiffRow& one) { return Text{one.worker}; })
      .def_readonly("only_in", &DiffRow::only_in);
  const auto fact = [&](const char* name, auto member) {
    row.def_property_readonly(name, [member](const DiffRow& one) { return one.difference.*member; });
  };
  fact("size", &Difference::size);
  fact("differing", &Difference::differing);
  fact("first", &Difference::first);
  fact("same_dtype", &Difference::same_dtype);
  fact("max_abs", &Difference::max_abs);
  fact("max_rel", &Difference::max_rel);
  fact("mean_abs", &Difference::mean_abs);
  fact("rmse", &Difference::rmse);
  fact("l2_a", &Difference::l2_a);
  fact("l2_b", &Difference::l2_b);
  fact("l2_diff", &Difference::l2_diff);
  fact("rel_l2", &Difference::rel_l2);
  fact("cosine", &Difference::cosine);
}

void add_tensor(py::module_& module) {
  const auto step = py::arg("step") = py::none();
  const auto mode = py::arg("mode") = py::none();
  const auto worker = py::arg("worker") = py::none();
  py::class_<TrialTensor>(module, "Tensor", "A named series of values. Made by a Trial, which it keeps alive.")
      .def_property_readonly("name", [](const TrialTensor& self) { return Text{self.tensor.name()}; })
      .def_property_readonly("original_name",
                             [](const TrialTensor& self) -> std::optional<Text> {
                               const auto name = self.tensor.original_name();
                               return name ? std::optional(Text{*name}) : std::nullopt;
                             })
      .def("__repr__", [](const TrialTensor& self) { return Text{"<smd.Tensor " + self.tensor.name() + ">"}; })
      .def(
          "steps",
          [](const TrialTensor& self, const ModeArgument& in, bool incomplete) {
            return self.tensor.steps(in.mode, incomplete);
          },
          "Returns the steps at which anything was saved: those of a mode as mode steps.", mode,
          py::arg("show_incomplete_steps") = false, Unlocked())
      .def(
          "value",
          [](const TrialTensor& self, std::optional<std::int64_t> at, const ModeArgument& in,
             const std::optional<Text>& by) {
            return self.tensor.value(at ? in.step(*at) : last_step(self.tensor, in), plain(by));
          },
          "Returns the value at a step (by default the last that has one) as an array, which owns its memory.", step,
          mode, worker, Unlocked())
      .def(
          "values",
          [](const TrialTensor& self, const ModeArgument& in, const std::optional<Text>& by, bool wall_time) {
            return values(*self.trial, self.tensor.name(), in, by, wall_time);
          },
          "Returns steps and values, and with wall_time their times. Single numbers: a one-dimensional array; other "
          "values: stacked if they have one shape, else an array of arrays.",
          mode, worker, py::arg("wall_time") = false)
      .def(
          "reduce",
          [](const TrialTensor& self, const py::args& reductions, const ModeArgument& in,
             const std::optional<Text>& by) {
            std::vector<std::string> names;
            for (const py::handle name : reductions) {
              names.push_back(name.cast<Text>().value);
            }
            std::vector<std::pair<std::string, TensorValue>> columns;
            {
              const py::gil_scoped_release release;
              columns = reduced_series(*self.trial, self.tensor.name(), names, {in.mode, plain(by)});
            }
            return table_of(columns);
          },
          "Returns a Table of steps and reductions ('abs_mean', 'p99'), as they were saved, else computed.", mode,
          worker)
      .def(
          "shape",
          [](const TrialTensor& self, std::int64_t at, const ModeArgument& in, const std::optional<Text>& by) {
            const Shape shape = self.tensor.shape(in.step(at), plain(by));
            const py::gil_scoped_acquire lock;
            return py::tuple(py::cast(shape));
          },
          "Returns the shape that was saved, else the value's.", py::arg("step"), mode, worker, Unlocked())
      .def(
          "reduction_value",
          [](const TrialTensor& self, std::int64_t at, const Text& name, bool abs, const ModeArgument& in,
             const std::optional<Text>& by) {
            return self.tensor.reduction_value(in.step(at), name.value, abs, plain(by));
          },
          "Returns a reduction as it was saved, else computed.", py::arg("step"), py::arg("reduction_name"),
          py::arg("abs") = false, mode, worker, Unlocked())
      .def(
          "reduction_values",
          [](const TrialTensor& self, std::int64_t at, const ModeArgument& in, const std::optional<Text>& by) {
            std::map<std::pair<std::string, bool>, TensorValue> all;
            for (auto& [key, value] : self.tensor.reduction_values(in.step(at), plain(by))) {
              all.emplace(std::pair(key.name, key.abs), value);
            }
            return all;
          },
          "Returns all saved reductions by (name, abs).", py::arg("step"), mode, worker, Unlocked())
      .def(
          "workers",
          [](const TrialTensor& self, std::int64_t at, const ModeArgument& in) {
            return texts(self.tensor.workers(in.step(at)));
          },
          "Returns the workers that saved anything of it at a step.", py::arg("step"), mode, Unlocked())
      .def(
          "prev_steps",
          [](const TrialTensor& self, std::int64_t at, std::optional<std::size_t> n, const ModeArgument& in) {
            return self.tensor.prev_steps(in.step(at), n);
          },
          "Returns the last n steps up to and including a step; without n all.", py::arg("step"),
          py::arg("n") = py::none(), mode, Unlocked());
}

void add_trial(py::module_& module) {
  const auto mode = py::arg("mode") = py::none();
  const auto timeout = py::arg("timeout") = py::none();
  const auto idle = py::arg("idle") = py::none();
  const auto interval = py::arg("interval") = py::none();
  const auto regex = py::arg("regex") = py::none();
  const auto names = py::arg("names") = py::none();
  const auto collection = py::arg("collection") = py::none();
  const auto worker = py::arg("worker") = py::none();
  py::class_<Steps>(module, "Steps", "Iterates over steps as they become complete; outcome says why it ended.")
      .def("__iter__", [](const py::object& self) { return self; })
      .def("__next__", &Steps::next)
      .def_property_readonly("outcome", &Steps::outcome);
  py::class_<Refreshing>(module, "Refreshing", "In `with`: queries of these trials refresh, or do not.")
      .def(py::init<std::vector<const Trial*>, bool>(), py::arg("trials"), py::arg("refresh"), py::keep_alive<1, 2>())
      .def("__enter__", &Refreshing::enter)
      .def("__exit__", [](Refreshing& self, const py::args&) { self.leave(); });
  py::class_<Trial>(module, "Trial", "What one job saved. Made by smd.open. Any number of threads may use it.")
      .def_property_readonly("name", [](const Trial& self) { return Text{self.name()}; })
      .def_property_readonly("path", [](const Trial& self) { return Text{self.path()}; })
      .def_property_readonly("layout", [](const Trial& self) { return std::string(self.layout().name); })
      .def_property_readonly("remote", &Trial::remote)
      .def_property_readonly("problems", &Trial::problems, "What could not be read so far, and notes.")
      .def_property_readonly("ended", &Trial::ended)
      .def_property_readonly("exit_code", &Trial::exit_code)
      .def_property_readonly("num_workers", &Trial::num_workers)
      .def_property_readonly("last_complete_step", &Trial::last_complete_step)
      .def_property_readonly(
          "hyperparameters",
          [](const Trial& self) {
            std::map<std::string, std::string> json = self.hyperparameters().values;
            return json;
          },
          "JSON text by name.")
      .def("__repr__", [](const Trial& self) { return Text{"<smd.Trial " + self.path() + ">"}; })
      .def("__getitem__", &tensor_of)
      .def(
          "__contains__", [](const Trial& self, const Text& name) { return self.has_tensor(name.value); }, Unlocked())
      .def(
          "__len__", [](const Trial& self) { return self.tensor_names().size(); }, Unlocked())
      .def("__iter__", [](const Trial& self) { return py::iter(py::cast(texts(self.tensor_names()))); })
      .def(
          "tensor_names",
          [](const Trial& self, const Texts& patterns, const Texts& of, const Texts& exact, const Texts& exclude,
             std::optional<std::int64_t> step, const ModeArgument& in) {
            return texts(self.tensor_names(query_of(patterns, exact, of, exclude, step, in)));
          },
          "Returns the names of tensors that match a pattern, are in a collection or among names, without those that "
          "match exclude.",
          regex, collection, names, py::arg("exclude") = py::none(), py::arg("step") = py::none(), mode, Unlocked())
      .def("tensor", &tensor_of, "Returns a tensor.", py::arg("name"))
      .def(
          "has_tensor", [](const Trial& self, const Text& name) { return self.has_tensor(name.value); },
          py::arg("name"), Unlocked())
      .def(
          "steps",
          [](const Trial& self, const ModeArgument& in, bool incomplete) { return self.steps(in.mode, incomplete); },
          "Returns the complete steps: those of a mode as mode steps.", mode, py::arg("show_incomplete_steps") = false,
          Unlocked())
      .def("modes", &Trial::modes, Unlocked())
      .def(
          "mode", [](const Trial& self, std::int64_t step) { return self.mode(GlobalStep(step)); },
          py::arg("global_step"), Unlocked())
      .def(
          "mode_step", [](const Trial& self, std::int64_t step) { return self.mode_step(GlobalStep(step)); },
          py::arg("global_step"), Unlocked())
      .def(
          "global_step",
          [](const Trial& self, const ModeArgument& in, std::int64_t step) {
            return self.global_step(in.mode, ModeStep(step));
          },
          py::arg("mode"), py::arg("mode_step"), Unlocked())
      .def(
          "workers", [](const Trial& self) { return texts(self.workers()); }, Unlocked())
      .def("collections", &Trial::collections, Unlocked())
      .def(
          "collection", [](const Trial& self, const Text& name) { return self.collection(name.value); },
          py::arg("name"), Unlocked())
      .def(
          "has_passed_step",
          [](const Trial& self, std::int64_t step, const ModeArgument& in) {
            return self.has_passed_step(in.step(step));
          },
          py::arg("step"), mode, Unlocked())
      .def(
          "wait_for_steps",
          [](const Trial& self, const std::vector<std::int64_t>& steps, const ModeArgument& in,
             const Seconds& in_timeout, const Seconds& in_idle, const Seconds& in_interval) {
            std::vector<StepKey> keys;
            for (const std::int64_t step : steps) {
              keys.push_back(in.step(step));
            }
            return std::string(name_of(interruptible([&](const std::stop_token& stop) {
              return self.wait_for_steps(keys, wait_options(in_timeout, in_idle, in_interval, stop));
            })));
          },
          "Waits until all these steps can be read. Returns 'reached', or 'timed_out' or 'idle'.", py::arg("steps"),
          mode, timeout, idle, interval)
      .def(
          "follow",
          [](const Trial& self, const Seconds& in_idle, const Seconds& in_timeout, const Seconds& in_interval,
             std::optional<GlobalStep> after) {
            return std::make_unique<Steps>(self, in_timeout, in_idle, in_interval, after);
          },
          "Returns an iterator over the global steps, those that are there and those to come, until the job ends.",
          idle, timeout, interval, py::arg("after") = py::none(), py::keep_alive<0, 1>())
      .def("refresh", &Trial::refresh, "Reads what is new.", Unlocked())
      .def(
          "load_range",
          [](Trial& self, std::optional<std::int64_t> first, std::optional<std::int64_t> end) {
            self.load_range(range_of(std::pair(first, end), {}, {}));
          },
          "Reads another range of steps too.", py::arg("first"), py::arg("end"), Unlocked())
      .def(
          "no_refresh", [](const Trial& self) { return Refreshing({&self}, false); },
          "In `with t.no_refresh():` all queries see the trial as it was at the last refresh.", py::keep_alive<0, 1>())
      .def(
          "scalars", &scalars,
          "Returns a Table of the tensors that are single numbers: step, value, tensor, or, if wide, step and a column "
          "for each tensor (NaN where it has no value).",
          regex, names, collection, mode, worker, py::arg("wide") = false, py::arg("wall_time") = false);
}

}  // namespace

PYBIND11_MODULE(_core, module) {
  module.attr("__version__") = SMD_VERSION_STRING;
  add_errors(module);
  add_elements(module);
  add_values(module);
  add_tensor(module);
  add_trial(module);
  module.def("open", &open, "Opens a trial; see the module's documentation for the options.", py::arg("path"));
  module.def("find", &find, "Returns the paths of the trials at or below a place. Warns of places not searched.",
             py::arg("path"), py::arg("layout") = "");
  module.def("diff", &diff,
             "Compares the values of two trials, by tensor, step and worker. |a - b| <= atol + rtol |b| is equal.",
             py::arg("a"), py::arg("b"), py::arg("regex") = py::none(), py::arg("rtol") = 0.0, py::arg("atol") = 0.0,
             py::arg("equal_nan") = true, Unlocked());
  module.def("arrow_stream", &arrow_stream);
}

}  // namespace smd::python
