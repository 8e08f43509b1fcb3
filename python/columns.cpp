// SPDX-License-Identifier: Apache-2.0
#include "columns.hpp"

#include "convert.hpp"

#include <smd/column.hpp>
#include <smd/elements.hpp>
#include <smd/value_reducer.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

namespace smd::python {

namespace {

/// A row of a column: where it is.
struct RowPlace {
  std::int64_t step;
  const ColumnPart* part;
  std::size_t index;
};

/// Returns the rows by step, of each step those of the first worker by name.
std::vector<RowPlace> ordered_rows(const ScalarColumn& column, bool mode_steps, bool any_worker) {
  std::vector<RowPlace> rows;
  rows.reserve(column.size());
  for (const ColumnPart& part : column.parts()) {
    for (std::size_t i = 0; i < part.size(); ++i) {
      rows.push_back({mode_steps ? part.mode_step(i).value : part.step(i).value, &part, i});
    }
  }
  std::stable_sort(rows.begin(), rows.end(), [](const RowPlace& a, const RowPlace& b) {
    return a.step != b.step ? a.step < b.step : a.part->worker() < b.part->worker();
  });
  if (any_worker) {
    std::size_t kept = 0;
    for (const RowPlace& row : rows) {
      if (kept == 0 || rows[kept - 1].step != row.step || rows[kept - 1].part->worker() == row.part->worker()) {
        rows[kept++] = row;
      }
    }
    rows.resize(kept);
  }
  return rows;
}

/// Calls `take(part, i)` for the rows of a column in their order. Nearly always they already are.
template <class Take>
void for_each_row(const ScalarColumn& column, bool mode_steps, bool any_worker, const Take& take) {
  const std::span<const ColumnPart> parts = column.parts();
  const auto step = [&](const ColumnPart& part, std::size_t i) {
    return mode_steps ? part.mode_step(i).value : part.step(i).value;
  };
  bool ordered = true;
  for (std::size_t k = 1; ordered && k < parts.size(); ++k) {
    ordered = parts[k - 1].size() > 0 && parts[k].size() > 0 && parts[k].worker() == parts.front().worker() &&
              step(parts[k - 1], parts[k - 1].size() - 1) < step(parts[k], 0);
  }
  if (ordered) {
    for (const ColumnPart& part : parts) {
      for (std::size_t i = 0; i < part.size(); ++i) {
        take(part, i);
      }
    }
    return;
  }
  for (const RowPlace& row : ordered_rows(column, mode_steps, any_worker)) {
    take(*row.part, row.index);
  }
}

/// Fills arrays with steps, values as they are stored in `Stored`, and times.
template <class Stored, class Value>
Series copied(const ScalarColumn& column, const SeriesQuery& query, Dtype dtype, const Value& value) {
  const NewColumn<std::int64_t> steps(column.size());
  const NewColumn<Stored> values(column.size());
  const NewColumn<double> times(column.size());
  std::size_t size = 0;
  const bool mode_steps = query.mode != Mode::global;
  for_each_row(column, mode_steps, !query.worker, [&](const ColumnPart& part, std::size_t i) {
    steps[size] = mode_steps ? part.mode_step(i).value : part.step(i).value;
    values[size] = static_cast<Stored>(value(part, i));
    times[size] = part.wall_time(i);
    ++size;
  });
  return {steps.value(Dtype::int64, size), values.value(dtype, size), times.value(Dtype::float64, size)};
}

Series series_of(const ScalarColumn& column, const SeriesQuery& query) {
  const std::span<const ColumnPart> parts = column.parts();
  const Dtype dtype = parts.empty() ? Dtype::float64 : parts.front().dtype();
  const bool same =
      std::all_of(parts.begin(), parts.end(), [&](const ColumnPart& part) { return part.dtype() == dtype; });
  if (!same) {
    return copied<double>(column, query, Dtype::float64,
                          [](const ColumnPart& part, std::size_t i) { return part.value(i); });
  }
  const auto bits = [](const ColumnPart& part, std::size_t i) { return part.number(i); };
  switch (item_size(dtype)) {
    case 1:
      return copied<std::uint8_t>(column, query, dtype, bits);
    case 2:
      return copied<std::uint16_t>(column, query, dtype, bits);
    case 4:
      return copied<std::uint32_t>(column, query, dtype, bits);
    default:  // no real number has more
      return copied<std::uint64_t>(column, query, dtype, bits);
  }
}

/// What a query selects of a tensor, by step: at each step the first worker that saved what `wanted` looks for. Places
/// and names are those of `owner`.
template <class Wanted>
std::vector<TensorEntry> entries_of(const Trial& trial, const Tensor& owner, const SeriesQuery& query,
                                    const Wanted& wanted) {
  EntryQuery entry_query;
  entry_query.tensors = {owner.name()};
  entry_query.mode = query.mode == Mode::global ? std::nullopt : std::optional(query.mode);
  if (query.worker) {
    entry_query.workers = {*query.worker};
  }
  std::vector<TensorEntry> entries;
  trial.for_each_entry(entry_query, [&](const TensorEntry& entry) {
    const bool again = !entries.empty() && entries.back().step == entry.step && entries.back().worker != entry.worker;
    if (wanted(entry) && !again) {
      entries.push_back(entry);
    }
    return true;
  });
  return entries;
}

TensorValue steps_of(const std::vector<TensorEntry>& entries, const SeriesQuery& query) {
  const NewColumn<std::int64_t> steps(entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    steps[i] = query.mode == Mode::global ? entries[i].step.value : entries[i].mode_step.value;
  }
  return steps.value(Dtype::int64);
}

void check_read(const std::vector<std::optional<Problem>>& problems) {
  for (const std::optional<Problem>& problem : problems) {
    if (problem) {
      throw ReadError(*problem);
    }
  }
}

/// Calls `use(i, value)` with an open value of each entry, in several threads. @throws ReadError.
template <class Use>
void read_entries(const Trial& trial, std::span<const TensorEntry> entries, const Use& use) {
  std::vector<std::optional<Problem>> problems(entries.size());
  parallel_read(trial, reading_loop(trial, entries.size(), {}), {}, [&](const LoopIndex& at, ValueReader& reader) {
    problems[at.index] =
        reader.read(*entries[at.index].value, entries[at.index].tensor, [&](Extent& value) { use(at, value); });
  });
  check_read(problems);
}

}  // namespace

std::optional<Series> number_series(const Trial& trial, const std::string& tensor, const SeriesQuery& query) {
  const std::optional<Mode> mode = query.mode == Mode::global ? std::nullopt : std::optional(query.mode);
  if (!ScalarColumn::held(trial, tensor)) {
    // The first value tells whether it is worthwhile to look at all.
    const Tensor owner = trial.tensor(tensor);
    std::vector<TensorEntry> entries =
        entries_of(trial, owner, query, [](const TensorEntry& entry) { return entry.value.has_value(); });
    entries.resize(std::min<std::size_t>(entries.size(), 1));
    bool number = false;
    read_entries(trial, entries,
                 [&](const LoopIndex&, const Extent& value) { number = is_real(value.dtype()) && value.size() == 1; });
    if (!number) {
      return std::nullopt;
    }
  }
  const ScalarColumn column = ScalarColumn::read(trial, tensor, {.mode = mode, .worker = query.worker});
  if (!column.problems().empty()) {
    throw ReadError(column.problems().front());
  }
  return column.others() > 0 ? std::nullopt : std::optional(series_of(column, query));
}

Series value_series(const Trial& trial, const std::string& tensor, const SeriesQuery& query) {
  if (std::optional<Series> numbers = number_series(trial, tensor, query)) {
    return *std::move(numbers);
  }
  const Tensor owner = trial.tensor(tensor);
  const std::vector<TensorEntry> entries =
      entries_of(trial, owner, query, [](const TensorEntry& entry) { return entry.value.has_value(); });
  const NewColumn<double> times(entries.size());
  Dtype dtype = Dtype::string;
  Shape shape;
  read_entries(trial, std::span(entries).first(std::min<std::size_t>(entries.size(), 1)),
               [&](const LoopIndex&, const Extent& value) {
                 dtype = value.dtype();
                 shape = value.shape();
               });
  Series series{steps_of(entries, query), TensorValue(), TensorValue()};
  // Values are read to where they stay. If one has another shape, each gets an array of its own.
  const std::uint64_t bytes = element_count(shape).value_or(0) * item_size(dtype);
  bool alike = dtype != Dtype::string;
  if (alike) {
    const NewColumn<std::byte> all(static_cast<std::size_t>(bytes) * entries.size());
    std::vector<char> same(entries.size());
    read_entries(trial, entries, [&](const LoopIndex& at, Extent& value) {
      times[at.index] = value.wall_time();
      same[at.index] = value.dtype() == dtype && value.shape() == shape;
      if (same[at.index] != 0 && bytes > 0) {
        (void)value.read(0, {all.data() + at.index * bytes, static_cast<std::size_t>(bytes)});
      }
    });
    alike = std::all_of(same.begin(), same.end(), [](char one) { return one != 0; });
    Shape stacked = shape;
    stacked.insert(stacked.begin(), static_cast<std::int64_t>(entries.size()));
    series.data = all.value(dtype, stacked, static_cast<std::size_t>(bytes) * entries.size());
  }
  if (!alike) {
    std::vector<TensorValue> values(entries.size());
    read_entries(trial, entries, [&](const LoopIndex& at, Extent& value) {
      times[at.index] = value.wall_time();
      values[at.index] = value.value().value_or(TensorValue());
    });
    series.data = std::move(values);
  }
  series.times = times.value(Dtype::float64);
  return series;
}

std::vector<std::pair<std::string, TensorValue>> reduced_series(const Trial& trial, const std::string& tensor,
                                                                const std::vector<std::string>& names,
                                                                const SeriesQuery& query) {
  const Tensor owner = trial.tensor(tensor);
  std::vector<std::optional<Reduction>> kinds;
  for (const std::string& name : names) {
    kinds.push_back(parse_reduction(name));
  }
  const auto saved = [&](const TensorEntry& entry, const std::string& name) {
    return std::find_if(entry.reductions.begin(), entry.reductions.end(),
                        [&](const SavedReduction& one) { return one.name == name; });
  };
  const auto has = [&](const TensorEntry& entry, std::size_t k) {
    return (entry.value && kinds[k]) || saved(entry, names[k]) != entry.reductions.end();
  };
  std::vector<TensorEntry> entries = entries_of(trial, owner, query, [&](const TensorEntry& entry) {
    for (std::size_t k = 0; k < names.size(); ++k) {
      if (has(entry, k)) {
        return true;
      }
    }
    return false;
  });
  for (std::size_t k = 0; k < names.size(); ++k) {
    // A name that is unknown must have been saved.
    if (!kinds[k] && std::none_of(entries.begin(), entries.end(), [&](const TensorEntry& e) { return has(e, k); })) {
      throw InvalidArgument("'" + names[k] + "' is no reduction, and none of that name was saved");
    }
  }
  std::vector<NewColumn<double>> columns(names.size(), NewColumn<double>(0));
  for (NewColumn<double>& column : columns) {
    column = NewColumn<double>(entries.size());
    std::fill_n(column.data(), entries.size(), std::numeric_limits<double>::quiet_NaN());
  }
  const ParallelLoop loop = reading_loop(trial, entries.size(), {});
  std::vector<std::optional<Problem>> problems(entries.size());
  parallel_read(trial, loop, {}, [&](const LoopIndex& at, ValueReader& reader) {
    const TensorEntry& entry = entries[at.index];
    std::vector<Reduction> wanted;
    std::vector<std::size_t> places;
    for (std::size_t k = 0; k < names.size(); ++k) {
      const auto found = saved(entry, names[k]);
      if (found != entry.reductions.end()) {
        const auto problem = reader.read(found->place, reduction_tensor_name(names[k], tensor), [&](Extent& value) {
          if (const std::optional<TensorValue> number = value.value()) {
            columns[k][at.index] = number->item();
          }
        });
        problems[at.index] = problem ? problem : problems[at.index];
      } else if (entry.value && kinds[k]) {
        wanted.push_back(*kinds[k]);
        places.push_back(k);
      }
    }
    if (wanted.empty()) {
      return;
    }
    ValueReducer reducer;
    const auto problem = reader.read(*entry.value, entry.tensor, [&](Extent& value) {
      if (reducer.reduce(value, wanted)) {
        const std::span<const ReducedValue> results = reducer.results();
        for (std::size_t k = 0; k < places.size(); ++k) {
          if (results[k].kind == ReducedValue::Kind::complex) {
            throw InvalidArgument(names[places[k]] + " of complex numbers is complex: see reduction_value");
          }
          columns[places[k]][at.index] = results[k].real;
        }
      }
    });
    problems[at.index] = problem ? problem : problems[at.index];
  });
  check_read(problems);
  std::vector<std::pair<std::string, TensorValue>> table = {{"step", steps_of(entries, query)}};
  for (std::size_t k = 0; k < names.size(); ++k) {
    table.emplace_back(names[k], columns[k].value(Dtype::float64));
  }
  return table;
}

namespace {

template <class T>
std::span<const T> numbers_of(const TensorValue& value) {
  return {reinterpret_cast<const T*>(value.bytes().data()), value.bytes().size() / sizeof(T)};
}

/// Joins arrays of the same type; of numbers of several types, as doubles.
TensorValue joined(const std::vector<TensorValue>& parts) {
  const bool same = std::all_of(parts.begin(), parts.end(),
                                [&](const TensorValue& part) { return part.dtype() == parts.front().dtype(); });
  std::size_t size = 0;
  std::size_t bytes = 0;
  for (const TensorValue& part : parts) {
    size += static_cast<std::size_t>(part.view().size());
    bytes += part.bytes().size();
  }
  if (parts.size() == 1) {
    return parts.front();
  }
  if (parts.empty() || !same) {
    const NewColumn<double> all(size);
    std::size_t done = 0;
    for (const TensorValue& part : parts) {
      done += copy_as_doubles(part.view(), 0, {all.data() + done, size - done});
    }
    return all.value(Dtype::float64);
  }
  const NewColumn<std::byte> all(bytes);
  std::size_t done = 0;
  for (const TensorValue& part : parts) {
    std::copy(part.bytes().begin(), part.bytes().end(), all.data() + done);
    done += part.bytes().size();
  }
  return all.value(parts.front().dtype(), {static_cast<std::int64_t>(size)}, bytes);
}

/// Puts a series into rows by step: NaN where it has no value.
TensorValue spread(const Series& series, const std::vector<std::int64_t>& rows, const TensorValue& data) {
  const std::span<const std::int64_t> steps = numbers_of<std::int64_t>(series.steps);
  if (steps.size() == rows.size()) {
    return data;
  }
  const std::vector<double> values = to_doubles(data.view());
  const NewColumn<double> column(rows.size());
  std::fill_n(column.data(), rows.size(), std::numeric_limits<double>::quiet_NaN());
  auto row = rows.begin();
  for (std::size_t i = 0; i < steps.size(); ++i) {
    row = std::lower_bound(row, rows.end(), steps[i]);
    column[static_cast<std::size_t>(row - rows.begin())] = values[i];
  }
  return column.value(Dtype::float64);
}

}  // namespace

ScalarTable scalar_table(const Trial& trial, const std::vector<std::string>& tensors, const SeriesQuery& query,
                         bool wide, bool wall_time) {
  std::vector<Series> all;
  ScalarTable table;
  for (const std::string& tensor : tensors) {
    if (std::optional<Series> series = number_series(trial, tensor, query)) {
      table.tensors.emplace_back(tensor, static_cast<std::size_t>(series->steps.view().size()));
      all.push_back(*std::move(series));
    }
  }
  if (!wide) {
    std::vector<TensorValue> steps;
    std::vector<TensorValue> values;
    std::vector<TensorValue> times;
    for (const Series& series : all) {
      steps.push_back(series.steps);
      values.push_back(std::get<TensorValue>(series.data));
      times.push_back(series.times);
    }
    const auto add = [&](const char* name, const std::vector<TensorValue>& parts) {
      table.columns.emplace_back(name, joined(parts));
    };
    add("step", steps);
    add("value", values);
    if (wall_time) {
      add("wall_time", times);
    }
    return table;
  }
  std::vector<std::int64_t> rows;
  for (const Series& series : all) {
    const std::span<const std::int64_t> steps = numbers_of<std::int64_t>(series.steps);
    if (!std::equal(steps.begin(), steps.end(), rows.begin(), rows.end())) {
      std::vector<std::int64_t> both;
      std::set_union(rows.begin(), rows.end(), steps.begin(), steps.end(), std::back_inserter(both));
      rows = std::move(both);
    }
  }
  const NewColumn<std::int64_t> steps(rows.size());
  std::copy(rows.begin(), rows.end(), steps.data());
  table.columns.emplace_back("step", steps.value(Dtype::int64));
  for (std::size_t k = 0; k < all.size(); ++k) {
    table.columns.emplace_back(table.tensors[k].first, spread(all[k], rows, std::get<TensorValue>(all[k].data)));
    if (wall_time) {
      table.columns.emplace_back(table.tensors[k].first + "/wall_time", spread(all[k], rows, all[k].times));
    }
  }
  table.tensors.clear();
  return table;
}

}  // namespace smd::python
