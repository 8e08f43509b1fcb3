// SPDX-License-Identifier: Apache-2.0
#include "columns.hpp"

#include "smd_python.hpp"

#include <smd/column.hpp>
#include <smd/value_reducer.hpp>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <span>

namespace smd::python {

namespace {

std::optional<Mode> chosen(const SeriesQuery& query) { return ModeArgument{query.mode}.chosen(); }

/// Returns one number of each row of a column.
template <class T, class Get>
NewColumn<T> gathered(const ScalarColumn& column, const Get& get) {
  NewColumn<T> numbers(column.size());
  T* next = numbers.data();
  for (const ColumnPart& part : column.parts()) {
    for (std::size_t i = 0; i < part.size(); ++i) {
      *next++ = static_cast<T>(get(part, i));
    }
  }
  return numbers;
}

/// Copies a column, whose numbers `number(part, i)` returns as they are stored in `Stored`.
template <class Stored, class Number>
NumberSeries copied(const ScalarColumn& column, bool mode_steps, bool with_times, Dtype dtype, const Number& number) {
  const auto steps =
      mode_steps
          ? gathered<std::int64_t>(column,
                                   [](const ColumnPart& part, std::size_t i) { return part.mode_step(i).value; })
          : gathered<std::int64_t>(column, [](const ColumnPart& part, std::size_t i) { return part.step(i).value; });
  NumberSeries series{steps.value(Dtype::int64), gathered<Stored>(column, number).value(dtype)};
  if (with_times) {
    series.times = gathered<double>(column, [](const ColumnPart& part, std::size_t i) {
                     return part.wall_time(i);
                   }).value(Dtype::float64);
  }
  std::map<std::string_view, std::int32_t> workers;
  for (const ColumnPart& part : column.parts()) {
    workers.emplace(part.worker(), 0);
  }
  if (workers.size() > 1 || !std::is_sorted(steps.data(), steps.data() + column.size())) {
    std::int32_t place = 0;
    for (auto& [name, of_name] : workers) {
      of_name = place++;
    }
    series.workers = gathered<std::int32_t>(column, [&](const ColumnPart& part, std::size_t /*i*/) {
                       return workers.find(part.worker())->second;
                     }).value(Dtype::int32);
  }
  return series;
}

/// What a query selects of a tensor, by step: at each step the first worker that saved something `wanted`.
std::vector<TensorEntry> entries_of(const Trial& trial, const std::string& tensor, const SeriesQuery& query,
                                    const std::function<bool(const TensorEntry&)>& wanted) {
  EntryQuery entry_query{.tensors = {tensor}, .mode = chosen(query)};
  if (query.worker) {
    entry_query.workers = {*query.worker};
  }
  std::vector<TensorEntry> entries;
  trial.for_each_entry(entry_query, [&](const TensorEntry& entry) {
    const bool again = !entries.empty() && entries.back().step == entry.step && entries.back().worker != entry.worker;
    if (!again && wanted(entry)) {
      entries.push_back(entry);
    }
    return true;
  });
  return entries;
}

bool has_value(const TensorEntry& entry) { return entry.value.has_value(); }

TensorValue steps_of(const std::vector<TensorEntry>& entries, const SeriesQuery& query) {
  const NewColumn<std::int64_t> steps(entries.size());
  std::transform(entries.begin(), entries.end(), steps.data(), [&](const TensorEntry& entry) {
    return query.mode == Mode::global ? entry.step.value : entry.mode_step.value;
  });
  return steps.value(Dtype::int64);
}

/// Calls `work(i, reader)`, which returns a problem, for each of `count` entries in several threads.
void read_each(const Trial& trial, std::size_t count,
               const std::function<std::optional<Problem>(std::size_t, ValueReader&)>& work) {
  parallel_read(trial, reading_loop(trial, count, {}), {}, [&](const LoopIndex& at, ValueReader& reader) {
    if (const std::optional<Problem> problem = work(at.index, reader)) {
      throw ReadError(*problem);
    }
  });
}

}  // namespace

std::optional<NumberSeries> number_series(const Trial& trial, const std::string& tensor, const SeriesQuery& query,
                                          bool with_times) {
  const Tensor owner = trial.tensor(tensor);  // keeps names
  if (!ScalarColumn::held(trial, tensor)) {
    // The first value tells whether it is worthwhile to look at all.
    const std::vector<TensorEntry> entries = entries_of(trial, tensor, query, has_value);
    bool number = false;
    read_each(trial, std::min<std::size_t>(entries.size(), 1), [&](std::size_t, ValueReader& reader) {
      return reader.read(*entries.front().value, tensor,
                         [&](const Extent& value) { number = is_real(value.dtype()) && value.size() == 1; });
    });
    if (!number) {
      return std::nullopt;
    }
  }
  const ScalarColumn column = ScalarColumn::read(trial, tensor, {.mode = chosen(query), .worker = query.worker});
  if (!column.problems().empty()) {
    throw ReadError(column.problems().front());
  }
  const std::span<const ColumnPart> parts = column.parts();
  if (column.others() > 0 || parts.empty()) {
    return std::nullopt;
  }
  const Dtype dtype = parts.front().dtype();
  const bool mode_steps = query.mode != Mode::global;
  if (std::any_of(parts.begin(), parts.end(), [&](const ColumnPart& part) { return part.dtype() != dtype; })) {
    return copied<double>(column, mode_steps, with_times, Dtype::float64,
                          [](const ColumnPart& part, std::size_t i) { return part.value(i); });
  }
  const auto bits = [](const ColumnPart& part, std::size_t i) { return part.number(i); };
  switch (item_size(dtype)) {
    case 1:
      return copied<std::uint8_t>(column, mode_steps, with_times, dtype, bits);
    case 2:
      return copied<std::uint16_t>(column, mode_steps, with_times, dtype, bits);
    case 4:
      return copied<std::uint32_t>(column, mode_steps, with_times, dtype, bits);
    default:  // no real number is larger
      return copied<std::uint64_t>(column, mode_steps, with_times, dtype, bits);
  }
}

ValueSeries value_series(const Trial& trial, const std::string& tensor, const SeriesQuery& query) {
  const Tensor owner = trial.tensor(tensor);
  const std::vector<TensorEntry> entries = entries_of(trial, tensor, query, has_value);
  const NewColumn<double> times(entries.size());
  ValueSeries series;
  series.steps = steps_of(entries, query);
  Dtype dtype = Dtype::string;
  Shape shape;
  read_each(trial, std::min<std::size_t>(entries.size(), 1), [&](std::size_t, ValueReader& reader) {
    return reader.read(*entries.front().value, tensor, [&](const Extent& value) {
      dtype = value.dtype();
      shape = value.shape();
    });
  });
  // Values are read to where they stay. If one has another shape, each gets an array of its own.
  const auto bytes = static_cast<std::size_t>(element_count(shape).value_or(0)) * item_size(dtype);
  series.stacked = dtype != Dtype::string;
  if (series.stacked) {
    const NewColumn<std::byte> all(bytes * entries.size());
    std::vector<char> same(entries.size());
    read_each(trial, entries.size(), [&](std::size_t i, ValueReader& reader) {
      return reader.read(*entries[i].value, tensor, [&](Extent& value) {
        times[i] = value.wall_time();
        same[i] = value.dtype() == dtype && value.shape() == shape &&
                  (bytes == 0 || value.read(0, {all.data() + i * bytes, bytes}));
      });
    });
    series.stacked = std::all_of(same.begin(), same.end(), [](char one) { return one != 0; });
    shape.insert(shape.begin(), static_cast<std::int64_t>(entries.size()));
    series.values = {all.value(dtype, shape)};
  }
  if (!series.stacked) {
    series.values.assign(entries.size(), {});
    read_each(trial, entries.size(), [&](std::size_t i, ValueReader& reader) {
      return reader.read(*entries[i].value, tensor, [&](Extent& value) {
        times[i] = value.wall_time();
        series.values[i] = value.value().value_or(TensorValue());
      });
    });
  }
  series.times = times.value(Dtype::float64);
  return series;
}

std::vector<TensorValue> reduced_series(const Trial& trial, const std::string& tensor,
                                        const std::vector<std::string>& names, const SeriesQuery& query) {
  const Tensor owner = trial.tensor(tensor);
  const auto was_saved = [](const TensorEntry& entry, const std::string& name) {
    return std::any_of(entry.reductions.begin(), entry.reductions.end(),
                       [&](const SavedReduction& one) { return one.name == name; });
  };
  const std::vector<TensorEntry> entries = entries_of(trial, tensor, query, [&](const TensorEntry& entry) {
    return entry.value ||
           std::any_of(names.begin(), names.end(), [&](const auto& name) { return was_saved(entry, name); });
  });
  std::vector<NewColumn<double>> columns;
  for (const std::string& name : names) {
    if (!parse_reduction(name) && std::none_of(entries.begin(), entries.end(),
                                               [&](const TensorEntry& entry) { return was_saved(entry, name); })) {
      throw InvalidArgument("'" + name + "' is no reduction, and none of that name was saved");
    }
    std::fill_n(columns.emplace_back(entries.size()).data(), entries.size(), std::numeric_limits<double>::quiet_NaN());
  }
  read_each(trial, entries.size(), [&](std::size_t i, ValueReader& reader) {
    const TensorEntry& entry = entries[i];
    std::vector<Reduction> wanted;
    std::vector<std::size_t> places;
    for (std::size_t k = 0; k < names.size(); ++k) {
      if (was_saved(entry, names[k])) {
        const ReductionKey key(names[k]);
        columns[k][i] = owner.reduction_value(entry.step, key.name, key.abs, std::string(entry.worker)).item();
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
        columns[places[k]][i] = result.real;
      }
    });
  });
  std::vector<TensorValue> arrays = {steps_of(entries, query)};
  for (const NewColumn<double>& column : columns) {
    arrays.push_back(column.value(Dtype::float64));
  }
  return arrays;
}

}  // namespace smd::python
