// SPDX-License-Identifier: Apache-2.0
// The module smd._core: reading.
#include "smd_python.hpp"

#include <smd/difference.hpp>
#include <smd/find.hpp>
#include <smd/follow.hpp>
#include <smd/trial.hpp>
#include <smd/version.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <vector>

namespace smd::python {

/// What two trials have of a tensor at a step by a worker.
struct Compared {
  std::string tensor;
  GlobalStep step;
  std::string worker;
  const char* state;                          ///< As smd-diff names it.
  const char* compared = nullptr;             ///< What of it; null if they have nothing in common.
  std::optional<Difference> difference = {};  ///< Nullopt if elements cannot be compared.
};

using py::literals::operator""_a;

py::object to_python(const Compared& row) {
  const Difference d = row.difference.value_or(Difference());
  const auto known = [&](auto fact) { return row.difference ? std::optional(fact) : std::nullopt; };
  return py::module_::import("smd").attr("Difference")(
      "tensor"_a = row.tensor, "step"_a = row.step, "worker"_a = row.worker, "state"_a = row.state,
      "compared"_a = row.compared, "size"_a = known(d.size), "differing"_a = known(d.differing), "first"_a = d.first,
      "same_dtype"_a = known(d.same_dtype), "max_abs"_a = d.max_abs, "max_rel"_a = d.max_rel, "mean_abs"_a = d.mean_abs,
      "rmse"_a = d.rmse, "l2_a"_a = d.l2_a, "l2_b"_a = d.l2_b, "l2_diff"_a = d.l2_diff, "rel_l2"_a = d.rel_l2,
      "cosine"_a = d.cosine);
}

namespace {

using Seconds = std::optional<double>;

// By their numbers.
constexpr std::array wait_outcomes = {"reached", "ended", "timed_out", "idle", "stopped"};
constexpr std::array follow_events = {"step", "ended", "timed_out", "idle", "stopped"};
static_assert(wait_outcomes.size() == static_cast<std::size_t>(WaitOutcome::stopped) + 1);
static_assert(follow_events.size() == wait_outcomes.size());

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

const char* wait_for_steps(const Trial& trial, const std::vector<StepKey>& steps, Seconds timeout, Seconds idle,
                           Seconds interval) {
  return wait_outcomes.at(static_cast<std::size_t>(interruptible([&](const std::stop_token& stop) {
    return trial.wait_for_steps(steps, wait_options(timeout, idle, interval, stop));
  })));
}

class Follower {
 public:
  Follower(const Trial& trial, Seconds idle, Seconds timeout, Seconds interval, std::optional<GlobalStep> after,
           std::optional<GlobalStep> whole_before)
      : trial_(trial),
        options_{.wait = wait_options(timeout, idle, interval, {}), .after = after, .whole_before = whole_before} {
    begin();
  }

  /// @throws ValueError, as Python's generators, while another thread is in it.
  std::pair<const char*, GlobalStep> next() {
    if (inside_.exchange(true)) {
      throw py::value_error("already executing: another thread waits for the next step of this iterator");
    }
    const Leave leave{inside_};
    if (stop_.stop_requested()) {  // by KeyboardInterrupt: a follower that was stopped stays so
      begin();
    }
    const FollowEvent event = [&] {
      try {
        return interruptible([&](const std::stop_token& stop) {
          const std::stop_callback pass_on(stop, [&] { stop_.request_stop(); });
          return follower_->next();
        });
      } catch (const py::error_already_set&) {
        stop_.request_stop();  // also where `next` had ended before the signal: its step comes again
        throw;
      }
    }();
    if (event.outcome == WaitOutcome::reached) {
      options_.after = std::max(options_.after.value_or(event.step), event.step);
    }
    return {follow_events.at(static_cast<std::size_t>(event.outcome)), event.step};
  }

 private:
  struct Leave {
    std::atomic<bool>& inside;
    ~Leave() { inside = false; }
  };

  void begin() {
    stop_ = std::stop_source();
    options_.wait.stop = stop_.get_token();
    follower_ = std::make_unique<StepFollower>(trial_, options_);
  }

  const Trial& trial_;
  FollowOptions options_;  // after: the last step that was returned
  std::stop_source stop_;
  std::unique_ptr<StepFollower> follower_;
  std::atomic<bool> inside_ = false;
};

}  // namespace

}  // namespace smd::python

namespace pybind11::detail {

template <>
struct type_caster<smd::Tensor> : made_caster<smd::Tensor> {};
template <>
struct type_caster<smd::python::Follower> : made_caster<smd::python::Follower> {};

}  // namespace pybind11::detail

namespace smd::python {

namespace {

using Bounds = std::pair<std::optional<GlobalStep>, std::optional<GlobalStep>>;

StepRange range_of(const Bounds& steps) {
  return StepRange{.first = steps.first.value_or(GlobalStep(INT64_MIN)), .end = steps.second};
}

/// Opens a trial with the options of `smd.open`, of which None stands for its default.
Trial open(const std::string& path, py::dict given) {
  TrialOptions trial;
  const auto take = [&](const char* name, auto& into) {
    if (const py::object option = given.attr("pop")(name, py::none()); !option.is_none()) {
      try {
        into = option.cast<std::decay_t<decltype(into)>>();
      } catch (const std::exception&) {
        throw InvalidArgument(std::string(name) + " cannot be " + py::repr(option).cast<std::string>());
      }
    }
  };
  Seconds timeout;
  Bounds range_steps;
  std::optional<std::size_t> newest;
  std::optional<std::size_t> oldest;
  std::string superseded = "left_out";
  std::optional<bool> as_it_stands;
  take("name", trial.name);
  take("layout", trial.layout);
  take("step_name", trial.step_name);
  take("range_steps", range_steps);
  take("newest", newest);
  take("oldest", oldest);
  take("jobs", trial.jobs);
  take("verify", trial.verify);
  take("strict", trial.strict);
  take("as_it_stands", as_it_stands);
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
  if (int{range_steps != Bounds()} + int{newest.has_value()} + int{oldest.has_value()} > 1) {
    throw InvalidArgument("only one of range_steps, newest and oldest says which steps to read");
  }
  trial.range_steps = newest   ? StepRange{.newest = *newest}
                      : oldest ? StepRange{.oldest = *oldest}
                               : range_of(range_steps);
  // A caller that gives a timeout expects the trial to grow.
  trial.as_it_stands = as_it_stands.value_or(!timeout);
  trial.until_it_grows = !as_it_stands;
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
      if (auto there = Trial::open_when_there(path, trial, wait_options(timeout, {}, {}, stop))) {
        return *std::move(there);
      }
    }
    return Trial::open(path, trial);  // also to say what there is instead
  });
}

std::pair<std::vector<std::string>, std::vector<Problem>> find(const std::string& path, const std::string& layout) {
  std::vector<Problem> problems;
  auto found = interruptible([&](const std::stop_token& stop) {
    TrialOptions options{.layout = layout};
    options.remote.stop = [&stop] { return stop.stop_requested(); };
    return find_trials(path, &problems, options);
  });
  return {std::move(found), std::move(problems)};
}

std::vector<std::string> tensor_names(const Trial& trial, std::vector<std::string> names,
                                      std::vector<std::string> regex, std::vector<std::string> collections,
                                      std::vector<std::string> exclude, std::optional<StepKey> step, Mode mode) {
  return trial.tensor_names(
      {step, mode, std::move(names), std::move(regex), std::move(collections), std::move(exclude)});
}

/// Forms in which a tensor is saved, each of which tells more than those before; null: not at all.
constexpr std::array<const char*, 4> forms = {nullptr, "shape", "reductions", "value"};

/// Returns the index of the form that tells most.
std::size_t form_of(const std::optional<TensorEntry>& entry) {
  return !entry ? 0 : entry->value ? 3 : entry->reductions.empty() ? 1 : 2;
}

std::string_view meaning_of(const TensorEntry& entry) {
  return entry.value->type ? std::string_view(entry.value->type->meaning) : std::string_view();
}

/// Compares one tensor of two trials, as smd-diff does. `apart`: what a step of `a` has more than that of `b` with
/// which it is compared.
class TrialComparison {
 public:
  TrialComparison(const Trial& a, const Trial& b, std::string tensor, const DifferenceOptions& options,
                  std::int64_t apart, std::stop_token stop)
      : trials_({&a, &b}),
        apart_({0, apart}),
        stop_(std::move(stop)),
        reader_a_(a, {.stop = [this] { return stop_.stop_requested(); }}),
        reader_b_(b, {.stop = [this] { return stop_.stop_requested(); }}),
        tensor_(std::move(tensor)),
        comparer_(options),
        reductions_(options) {}

  std::vector<Compared> rows() {
    std::map<std::pair<GlobalStep, std::string>, std::array<std::optional<TensorEntry>, 2>> entries;
    for (std::size_t i = 0; i < trials_.size(); ++i) {
      trials_[i]->for_each_entry({.tensors = {tensor_}}, [&](const TensorEntry& entry) {
        entries[{GlobalStep(entry.step.value + apart_.at(i)), std::string(entry.worker)}][i] = entry;
        return true;
      });
    }
    std::vector<Compared> rows;
    for (const auto& [at, both] : entries) {
      if (stop_.stop_requested()) {
        break;  // nobody sees the rows
      }
      Compared& row = rows.emplace_back(Compared{tensor_, at.first, at.second, "shape"});
      const std::size_t form = form_of(both[0]);
      if (form != form_of(both[1])) {
        row.state = form > form_of(both[1]) ? "only_a" : "only_b";
        continue;
      }
      row.compared = forms.at(form);
      if (both[0]->value) {
        add_values(*both[0], *both[1], row);
      } else if (!both[0]->reductions.empty()) {
        add_reductions(both[0]->reductions, both[1]->reductions, row);
      } else if (both[0]->shape == both[1]->shape) {
        row.state = "equal";
      }
    }
    return rows;
  }

 private:
  void add_values(const TensorEntry& a, const TensorEntry& b, Compared& row) {
    const bool same_meaning = meaning_of(a) == meaning_of(b);  // if not, such as quantised numbers of two scales
    if (!compare(*a.value, *b.value, tensor_, same_meaning)) {
      return;
    }
    if (same_meaning) {
      add(comparer_.result(), row);
    } else {
      row.state = "differs";
    }
  }

  void add_reductions(const std::vector<SavedReduction>& a, const std::vector<SavedReduction>& b, Compared& row) {
    reductions_.clear();
    std::uint64_t apart = a.size() + b.size();  // that one trial lacks, and pairs of two shapes
    for (const SavedReduction& of_a : a) {
      const auto of_b = std::ranges::find(b, of_a.name, &SavedReduction::name);
      if (of_b == b.end()) {
        continue;
      }
      if (compare(of_a.place, of_b->place, reduction_tensor_name(of_a.name, tensor_))) {
        reductions_.merge(comparer_);
        apart -= 2;
      } else {
        apart -= 1;
      }
    }
    const Difference of = reductions_.result();
    Difference told;  // norms of a list of reductions mean nothing
    told.size = of.size + apart;
    told.differing = of.differing + apart;
    told.same_dtype = of.same_dtype;
    told.max_abs = of.max_abs;
    told.max_rel = of.max_rel;
    add(told, row);
  }

  /// Sets what follows from the numbers.
  static void add(const Difference& difference, Compared& row) {
    row.difference = difference;
    row.state = difference.differing > 0 ? "differs" : difference.same_dtype ? "equal" : "dtype";
  }

  /// Returns whether two values have one shape. If so, compares their elements, unless `elements` is false.
  bool compare(const Place& a, const Place& b, std::string_view name, bool elements = true) {
    bool same_shape = false;
    std::optional<Problem> of_b;
    const std::optional<Problem> of_a = reader_a_.read(a, name, [&](Extent& value_a) {
      of_b = reader_b_.read(b, name, [&](Extent& value_b) {
        comparer_.clear();
        same_shape = value_a.shape() == value_b.shape();
        if (same_shape && elements) {
          comparer_.add(value_a, value_b);
        }
      });
    });
    if (of_a || of_b) {
      throw ReadError(of_a ? *of_a : *of_b);
    }
    return same_shape;
  }

  std::array<const Trial*, 2> trials_;
  std::array<std::int64_t, 2> apart_;
  std::stop_token stop_;
  ValueReader reader_a_;
  ValueReader reader_b_;
  std::string tensor_;
  Comparer comparer_;
  Comparer reductions_;  // the reductions of an entry
};

std::vector<Compared> diff(const Trial& a, const Trial& b, const std::string& tensor, double rtol, double atol,
                           bool equal_nan, std::int64_t apart) {
  return interruptible([&](const std::stop_token& stop) {
    return TrialComparison(a, b, tensor, {.rtol = rtol, .atol = atol, .equal_nan = equal_nan}, apart, stop).rows();
  });
}

// As the reference: by name and whether of absolute values.
std::map<std::pair<std::string, bool>, TensorValue> reduction_values(const Tensor& tensor, StepKey step,
                                                                     const std::optional<std::string>& worker) {
  std::map<std::pair<std::string, bool>, TensorValue> values;
  for (auto& [stored, value] : tensor.reduction_values(step, worker)) {
    const bool abs = stored.starts_with("abs_");
    values.emplace(std::pair(stored.substr(abs ? 4 : 0), abs), value);
  }
  return values;
}

void add_tensor(py::module_& module) {
  py::class_<Tensor>(module, "Tensor")
      .def(py::init([](const Trial& trial, const std::string& name) { return trial.tensor(name); }), Unlocked())
      .def_property_readonly("name", &Tensor::name, "The name in the trial.")
      .def_property_readonly("original_name", &Tensor::original_name,
                             "The framework's name, if a shape was saved with it; else None.")
      .def("_steps", py::overload_cast<Mode, bool>(&Tensor::steps, py::const_), Unlocked())
      .def("_value", &Tensor::value, Unlocked())
      .def("_shape", &Tensor::shape, Unlocked())
      .def("_shapes", &Tensor::shapes, Unlocked())
      .def("_reduction_value", &Tensor::reduction_value, Unlocked())
      .def("_reduction_values", &reduction_values, Unlocked())
      .def("_workers", &Tensor::workers, Unlocked())
      .def("_prev_steps", &Tensor::prev_steps, Unlocked());
}

void add_trial(py::module_& module) {
  py::class_<Follower>(module, "Follower")
      .def(py::init<const Trial&, Seconds, Seconds, Seconds, std::optional<GlobalStep>, std::optional<GlobalStep>>(),
           py::keep_alive<1, 2>())
      .def("next", &Follower::next);
  py::class_<NoRefresh>(module, "NoRefresh").def(py::init<const std::vector<const Trial*>&>());
  py::class_<Refresh>(module, "Refresh").def(py::init<const std::vector<const Trial*>&>());
  py::class_<Trial> trial(module, "Trial");
  trial.def(py::init(&open))
      .def_property_readonly("name", &Trial::name, "The name that was given, else the last part of the path.")
      .def_property_readonly("path", &Trial::path, "The folder, file or URL in use, which may lie below the given one.")
      .def_property_readonly(
          "layout", [](const Trial& t) { return t.layout().name; },
          "How the files are laid out: debugger, tensorboard, …")
      .def_property_readonly(
          "remote", [](const Trial& t) { return is_remote_path(t.path()); }, "Whether it is on S3.")
      .def_property_readonly("problems", py::cpp_function(&Trial::problems, Unlocked()),
                             "What was found wrong with files.")
      .def_property_readonly("ended", py::cpp_function(&Trial::ended, Unlocked()), "Whether the job has ended.")
      .def_property_readonly("exit_code", py::cpp_function(&Trial::exit_code, Unlocked()),
                             "The job's exit code if its files have it, as those of W&B do; else None.")
      .def_property_readonly("num_workers", py::cpp_function(&Trial::num_workers, Unlocked()),
                             "How many workers the job said would save.")
      .def_property_readonly("last_complete_step", py::cpp_function(&Trial::last_complete_step, Unlocked()),
                             "The last global step that is complete; None if none is.")
      .def_property_readonly("_hyperparameters", py::cpp_function(&Trial::hyperparameters, Unlocked()))
      .def("_has_tensor", &Trial::has_tensor, Unlocked())
      .def("_tensor_names", &tensor_names, Unlocked())
      .def("_steps", py::overload_cast<Mode, bool>(&Trial::steps, py::const_), Unlocked())
      .def("_modes", &Trial::modes, Unlocked())
      .def("_mode", &Trial::mode, Unlocked())
      .def(
          "_mode_step", [](const Trial& t, GlobalStep step) { return t.mode_step(step); }, Unlocked())
      .def("_global_step", &Trial::global_step, Unlocked())
      .def("_workers", &Trial::workers, Unlocked())
      .def("_collections", &Trial::collections, Unlocked())
      .def("_collection", &Trial::collection, Unlocked())
      .def("_state", &Trial::has_passed_step, Unlocked())
      .def("_wait", &wait_for_steps)
      .def("_refresh", &Trial::refresh, Unlocked())
      .def(
          "_load_range", [](Trial& t, const Bounds& steps) { t.load_range(range_of(steps)); }, Unlocked());
  add_columns(trial);
}

}  // namespace

PYBIND11_MODULE(_core, module) {
  module.attr("__version__") = SMD_VERSION_STRING;
  add_exceptions();
  add_tensor(module);
  add_trial(module);
  module.def("find", &find);
  module.def("diff", &diff);
}

}  // namespace smd::python
