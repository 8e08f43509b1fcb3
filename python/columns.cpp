// SPDX-License-Identifier: Apache-2.0
// Many values of one tensor at once. All of it runs without Python's lock, and throws ReadError at a value that cannot
// be read. Values are of a mode, by its steps (`Mode::global`: all, by global steps; of several global steps with one
// mode step, the first counts, as in `Tensor::value`), and of a worker (nullopt: at each step of the first by name).
#include "smd_python.hpp"

#include <smd/column.hpp>
#include <smd/reduction.hpp>
#include <smd/trial.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <set>
#include <span>
#include <tuple>
#include <vector>

namespace smd::python {

namespace {

std::optional<Mode> chosen(Mode mode) { return mode == Mode::global ? std::nullopt : std::optional(mode); }

/// Tells which of the global steps with one mode step counts: the first. The trial is not refreshed meanwhile. For use
/// in one thread.
class CountingSteps {
 public:
  CountingSteps(const Trial& trial, Mode mode) : trial_(trial), mode_(mode) {}

  [[nodiscard]] bool counts(GlobalStep step, ModeStep mode_step) const {
    return mode_ == Mode::global || trial_.global_step(mode_, mode_step) == step;
  }

 private:
  const Trial& trial_;
  Mode mode_;
  NoRefresh same_{std::array{&trial_}, true};
};

/// A column, and which of its rows count; empty: all.
struct Rows {
  ScalarColumn column;
  std::vector<bool> counted;
};

/// Returns the first bytes, as many as `Stored` has, of what `get(part, i)` returns of each row that counts.
template <class Stored, class Get>
TensorValue gathered(const Rows& rows, Dtype dtype, const Get& get) {
  const std::shared_ptr<Stored[]> numbers = room_for<Stored>(rows.column.size());
  const bool all = rows.counted.empty();
  Stored* next = numbers.get();
  std::size_t row = 0;
  for (const ColumnPart& part : rows.column.parts()) {
    for (std::size_t i = 0; i < part.size(); ++i, ++row) {
      if (all || rows.counted[row]) {
        const auto number = get(part, i);
        std::memcpy(next++, &number, sizeof(Stored));  // little endian, as this machine is
      }
    }
  }
  const auto count = static_cast<std::size_t>(next - numbers.get());
  return value_of(dtype, {static_cast<std::int64_t>(count)}, numbers, count);
}

bool one_type(const ScalarColumn& column) {
  const std::span<const ColumnPart> parts = column.parts();
  return std::ranges::all_of(parts, [&](const ColumnPart& part) { return part.dtype() == parts.front().dtype(); });
}

TensorValue numbers_of(const Rows& rows) {
  const Dtype dtype = rows.column.parts().front().dtype();
  if (!one_type(rows.column)) {
    return gathered<double>(rows, Dtype::float64, [](const auto& part, std::size_t i) { return part.value(i); });
  }
  const auto stored = [&]<class Stored>(Stored /*size*/) {
    return gathered<Stored>(rows, dtype, [](const auto& part, std::size_t i) { return part.number(i); });
  };
  switch (item_size(dtype)) {
    case 1:
      return stored(std::uint8_t{});
    case 2:
      return stored(std::uint16_t{});
    case 4:
      return stored(std::uint32_t{});
    default:  // no real number is larger
      return stored(std::uint64_t{});
  }
}

std::int64_t step_of(const TensorEntry& entry, Mode mode) {
  return mode == Mode::global ? entry.step.value : entry.mode_step.value;
}

/// What a query selects of a tensor, by step: at each step the first worker that saved something `wanted`.
std::vector<TensorEntry> entries_of(const Trial& trial, const std::string& tensor, Mode mode, const Worker& worker,
                                    const std::function<bool(const TensorEntry&)>& wanted) {
  EntryQuery query{.tensors = {tensor}, .mode = mode};
  if (worker) {
    query.workers = {*worker};
  }
  std::vector<TensorEntry> entries;
  const CountingSteps steps(trial, mode);
  trial.for_each_entry(query, [&](const TensorEntry& entry) {
    const bool again = !entries.empty() && entries.back().step == entry.step && entries.back().worker != entry.worker;
    if (!again && wanted(entry)) {
      entries.push_back(entry);
    }
    return true;
  });
  if (mode != Mode::global) {
    std::erase_if(entries, [&](const TensorEntry& entry) { return !steps.counts(entry.step, entry.mode_step); });
    std::ranges::stable_sort(entries, {}, [&](const TensorEntry& entry) { return step_of(entry, mode); });
  }
  return entries;
}

/// Called if a worker has nothing. @throws InvalidWorker if it saved nothing of these tensors (none: of any) at any
/// step.
void require_worker(const Trial& trial, const Worker& worker, const std::vector<std::string>& tensors = {}) {
  if (!worker) {
    return;
  }
  std::set<std::string> workers;
  for (const TensorSummary& summary : trial.summaries(tensors)) {
    workers.insert(summary.workers.begin(), summary.workers.end());
  }
  if (workers.count(*worker) > 0) {
    return;
  }
  std::string text =
      "worker '" + *worker + "' saved nothing" + (tensors.empty() ? "" : " of '" + tensors.front() + "'");
  for (const std::string& other : workers) {
    text += (other == *workers.begin() ? "; these did: " : ", ") + other;
  }
  throw InvalidWorker(text, *worker, {workers.begin(), workers.end()});
}

bool has_value(const TensorEntry& entry) { return entry.value.has_value(); }

/// Returns the last complete step that has a value, by its number in the mode. @throws TensorUnavailableForStep if no
/// such step exists, InvalidWorker if the worker saved nothing of the tensor.
std::int64_t last_step(const Trial& trial, const std::string& tensor, Mode mode, const Worker& worker) {
  const Tensor owner = trial.tensor(tensor);
  const std::vector<TensorEntry> entries = entries_of(trial, tensor, mode, worker, has_value);
  if (entries.empty()) {
    require_worker(trial, worker, {tensor});
    throw TensorUnavailableForStep(
        "no value of '" + tensor + "' was saved at a complete step" + (worker ? " by worker '" + *worker + "'" : ""),
        tensor, {mode, ModeStep(-1)}, {});
  }
  return step_of(entries.back(), mode);
}

TensorValue steps_of(const std::vector<TensorEntry>& entries, Mode mode) {
  const std::shared_ptr<std::int64_t[]> steps = room_for<std::int64_t>(entries.size());
  std::ranges::transform(entries, steps.get(), [&](const TensorEntry& entry) { return step_of(entry, mode); });
  return value_of(Dtype::int64, {static_cast<std::int64_t>(entries.size())}, steps, entries.size());
}

/// Calls `work(i, reader)`, which returns a problem, for each of `count` entries in several threads. After a stop the
/// rest is left out: nobody sees the result.
void read_each(const Trial& trial, std::size_t count, const std::stop_token& stop,
               const std::function<std::optional<Problem>(std::size_t, ValueReader&)>& work) {
  const ReadOptions options{.stop = [&stop] { return stop.stop_requested(); }};
  parallel_read(trial, reading_loop(trial, count, options), options, [&](const LoopIndex& at, ValueReader& reader) {
    const std::optional<Problem> problem = stop.stop_requested() ? std::nullopt : work(at.index, reader);
    if (problem) {
      throw ReadError(*problem);
    }
  });
}

/// Adjacent rows of one worker, which has a name, and how many they are.
using Run = std::pair<std::string, std::size_t>;

/// Returns whether float64 holds a column's numbers.
bool fit_float64(const ScalarColumn& column) {
  constexpr double largest = 0x1p53;  // up to which it holds each integer
  return std::ranges::all_of(column.parts(), [](const ColumnPart& part) {
    bool fit = true;
    for (std::size_t i = 0; i < part.size() && !is_floating(part.dtype()); ++i) {
      fit = fit && std::abs(part.value(i)) < largest;
    }
    return fit;
  });
}

/// Returns steps, numbers (in their own type, or float64 if they have several), if wanted times, and runs of the rows.
/// Nullopt if a value is not a single number; with `exact` also if it has axes, or if float64 does not hold it.
std::optional<std::tuple<TensorValue, TensorValue, std::optional<TensorValue>, std::vector<Run>>> numbers(
    const Trial& trial, const std::string& tensor, Mode mode, const Worker& worker, bool with_times, bool exact) {
  const Tensor owner = trial.tensor(tensor);  // keeps names
  if (!ScalarColumn::held(trial, tensor)) {
    // The first value tells whether it is worthwhile to look at all.
    const std::vector<TensorEntry> entries = entries_of(trial, tensor, mode, worker, has_value);
    if (entries.empty()) {
      return std::nullopt;
    }
    std::optional<Shape> shape = entries.front().shape;
    if (!shape) {
      ValueReader reader(trial);
      const auto problem = reader.read(*entries.front().value, tensor, [&](Extent& value) { shape = value.shape(); });
      if (problem) {
        throw ReadError(*problem);
      }
    }
    if (element_count(*shape) != std::uint64_t{1} || (exact && !shape->empty())) {
      return std::nullopt;
    }
  }
  const CountingSteps counting(trial, mode);
  Rows rows = {ScalarColumn::read(trial, tensor, chosen(mode), worker), {}};
  const ScalarColumn& column = rows.column;
  if (!column.problems().empty()) {
    throw ReadError(column.problems().front());
  }
  if (column.others() > 0 || (exact && (column.has_axes() || !(one_type(column) || fit_float64(column))))) {
    return std::nullopt;
  }
  std::vector<Run> runs;
  for (const ColumnPart& part : column.parts()) {
    std::size_t count = part.size();
    for (std::size_t i = 0; i < part.size() && mode != Mode::global; ++i) {
      rows.counted.push_back(counting.counts(part.step(i), part.mode_step(i)));
      count -= rows.counted.back() ? 0 : 1;
    }
    if (count > 0) {
      runs.emplace_back(part.worker(), count);
    }
  }
  if (runs.empty()) {
    return std::nullopt;
  }
  TensorValue steps = gathered<std::int64_t>(rows, Dtype::int64, [&](const ColumnPart& part, std::size_t i) {
    return mode == Mode::global ? part.step(i).value : part.mode_step(i).value;
  });
  const auto time = [](const ColumnPart& part, std::size_t i) { return part.wall_time(i); };
  return std::tuple(std::move(steps), numbers_of(rows),
                    with_times ? std::optional(gathered<double>(rows, Dtype::float64, time)) : std::nullopt,
                    std::move(runs));
}

/// Returns steps; the values, which lie one after another in the first element if all have one type and shape; whether
/// they do; and times.
std::tuple<TensorValue, std::vector<TensorValue>, bool, TensorValue> values(const Trial& trial,
                                                                            const std::string& tensor, Mode mode,
                                                                            const Worker& worker,
                                                                            const std::stop_token& stop) {
  const Tensor owner = trial.tensor(tensor);
  const std::vector<TensorEntry> entries = entries_of(trial, tensor, mode, worker, has_value);
  const std::size_t count = entries.size();
  if (count == 0) {
    require_worker(trial, worker, {tensor});
  }
  Dtype dtype = Dtype::string;
  Shape shape;
  read_each(trial, std::min<std::size_t>(count, 1), stop, [&](std::size_t, ValueReader& reader) {
    return reader.read(*entries.front().value, tensor, [&](const Extent& value) {
      dtype = value.dtype();
      shape = value.shape();
    });
  });
  // Values are read to where they stay: if all are as the first, together.
  const std::size_t bytes = element_count(shape).value_or(0) * item_size(dtype);
  const std::shared_ptr<std::byte[]> all = room_for<std::byte>(bytes * count);
  const std::shared_ptr<double[]> times = room_for<double>(count);
  std::vector<TensorValue> each(count);
  std::atomic<bool> stacked = dtype != Dtype::string;
  read_each(trial, count, stop, [&](std::size_t i, ValueReader& reader) {
    return reader.read(*entries[i].value, tensor, [&](Extent& value) {
      times[i] = value.wall_time();
      if (dtype != Dtype::string && value.dtype() == dtype && value.shape() == shape) {
        const std::shared_ptr<std::byte[]> here(all, all.get() + i * bytes);
        (void)(bytes == 0 || value.read(0, {here.get(), bytes}));  // the reader has the problem
        each[i] = value_of(dtype, shape, here, bytes);
      } else {
        stacked = false;
        each[i] = value.value().value_or(TensorValue());
      }
    });
  });
  if (stacked) {
    shape.insert(shape.begin(), static_cast<std::int64_t>(count));
    each = {value_of(dtype, shape, all, bytes * count)};
  }
  return {steps_of(entries, mode), std::move(each), stacked,
          value_of(Dtype::float64, {static_cast<std::int64_t>(count)}, times, count)};
}

/// Returns steps, then for each name the reduction as it was saved, else computed, else NaN. Leaves out steps without
/// any. @throws InvalidWorker, and InvalidArgument for names that are unknown and were not saved, and for values that
/// cannot be reduced.
std::vector<TensorValue> reductions(const Trial& trial, const std::string& tensor,
                                    const std::vector<std::string>& names, Mode mode, const Worker& worker,
                                    const std::stop_token& stop) {
  const Tensor owner = trial.tensor(tensor);
  const auto was_saved = [](const TensorEntry& entry, const std::string& name) {
    return std::ranges::find(entry.reductions, name, &SavedReduction::name) != entry.reductions.end();
  };
  const std::vector<TensorEntry> entries = entries_of(trial, tensor, mode, worker, [&](const TensorEntry& entry) {
    return entry.value || std::ranges::any_of(names, [&](const auto& name) { return was_saved(entry, name); });
  });
  if (entries.empty()) {
    require_worker(trial, worker, {tensor});
  }
  std::vector<std::shared_ptr<double[]>> columns;
  for (const std::string& name : names) {
    const auto has = [&](const TensorEntry& entry) { return was_saved(entry, name); };
    if (!parse_reduction(name) && std::ranges::none_of(entries, has)) {
      throw InvalidArgument("'" + name + "' is no reduction, and none of that name was saved");
    }
    std::fill_n(columns.emplace_back(room_for<double>(entries.size())).get(), entries.size(),
                std::numeric_limits<double>::quiet_NaN());
  }
  read_each(trial, entries.size(), stop, [&](std::size_t i, ValueReader& reader) {
    const TensorEntry& entry = entries[i];
    std::vector<Reduction> wanted;
    std::vector<std::size_t> places;
    for (std::size_t k = 0; k < names.size(); ++k) {
      if (was_saved(entry, names[k])) {
        columns[k][i] = owner.reduction_value(entry.step, names[k], false, std::string(entry.worker)).item();
      } else if (const std::optional<Reduction> kind = parse_reduction(names[k]); entry.value && kind) {
        wanted.push_back(*kind);
        places.push_back(k);
      }
    }
    ValueReducer reducer;
    return wanted.empty() ? std::nullopt : reader.read(*entry.value, tensor, [&](Extent& value) {
      if (!reducer.reduce(value, wanted)) {
        return;
      }
      for (std::size_t k = 0; k < places.size(); ++k) {
        const ReducedValue& result = reducer.results()[k];
        if (result.kind == ReducedValue::Kind::complex) {
          throw InvalidArgument(names[places[k]] + " of complex numbers is complex: see reduction_value");
        }
        if (result.kind == ReducedValue::Kind::undefined && is_complex(value.dtype()) && !wanted[k].abs) {
          throw InvalidArgument("complex numbers have no " + names[places[k]]);
        }
        columns[places[k]][i] = result.real;
      }
    });
  });
  std::vector<TensorValue> arrays = {steps_of(entries, mode)};
  for (const std::shared_ptr<double[]>& column : columns) {
    arrays.push_back(value_of(Dtype::float64, arrays.front().shape(), column, entries.size()));
  }
  return arrays;
}

}  // namespace

void add_columns(py::class_<Trial>& trial) {
  trial.def("_numbers", &numbers, Unlocked())
      .def("_last_step", &last_step, Unlocked())
      .def(
          "_require_worker", [](const Trial& of, const Worker& worker) { require_worker(of, worker); }, Unlocked())
      .def("_values",
           [](const Trial& of, const std::string& tensor, Mode mode, const Worker& worker) {
             return interruptible([&](const std::stop_token& stop) { return values(of, tensor, mode, worker, stop); });
           })
      .def("_reduce", [](const Trial& of, const std::string& tensor, const std::vector<std::string>& names, Mode mode,
                         const Worker& worker) {
        return interruptible(
            [&](const std::stop_token& stop) { return reductions(of, tensor, names, mode, worker, stop); });
      });
}

}  // namespace smd::python
