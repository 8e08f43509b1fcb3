// SPDX-License-Identifier: Apache-2.0
#include "selected.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <unordered_set>
#include <utility>

#include "cli/mapped.hpp"
#include "cli/text.hpp"
#include "select/explanations.hpp"
#include "select/saved_forms.hpp"

namespace smd::tool::ls {

namespace {

/// Sum of the lengths of an entry's records.
std::uint64_t record_bytes(const TensorEntry& entry) noexcept {
  return (entry.value ? entry.value->length : 0) +
         sum_of(entry.reductions, [](const SavedReduction& reduction) { return reduction.place.length; });
}

/// Inserts an item that is not there yet in its place.
template <class T, class U>
void insert_sorted(std::vector<T>& items, const U& item) {
  const auto place = std::ranges::lower_bound(items, item);
  if (place == items.end() || *place != item) {
    items.insert(place, T(item));
  }
}

/// Calls `visit(row, entry)` for the entries that have a row. `facts`: by name, in byte order.
template <class Visit>
void for_each_row(const Trial& trial, const EntryQuery& query, const std::vector<TensorFacts>& facts, Visit&& visit) {
  std::size_t at = 0;
  trial.for_each_entry(query, [&](const TensorEntry& entry) {
    const auto found = [&](std::size_t row) {
      at = row;
      return at < facts.size() && name_of(facts[at]) == entry.tensor;
    };
    const auto place = [&] { return std::ranges::lower_bound(facts, entry.tensor, {}, name_of) - facts.begin(); };
    // Entries of a step come in the order of names, so that the next one is mostly the next row.
    if (found(at) || found(at + 1) || found(0) || found(static_cast<std::size_t>(place()))) {
      visit(at, entry);
    }
    return true;
  });
}

/// Adds up the entries of each of `query.tensors`. Entries come by step, then worker.
std::vector<TensorFacts> added_up(const Trial& trial, const EntryQuery& query) {
  struct Seen {
    bool value = false;
    std::vector<std::string> reductions;
  };
  std::vector<TensorFacts> facts(query.tensors.size());
  std::vector<Seen> all_seen(facts.size());
  for (std::size_t i = 0; i < facts.size(); ++i) {
    facts[i].summary.tensor = query.tensors[i];
  }
  for_each_row(trial, query, facts, [&](std::size_t row, const TensorEntry& entry) {
    Seen& seen = all_seen[row];
    TensorSummary& summary = facts[row].summary;
    if (summary.steps == 0 || summary.last_step != entry.step) {
      summary.first_step = summary.steps == 0 ? entry.step : summary.first_step;
      summary.last_step = entry.step;
      ++summary.steps;
    }
    insert_sorted(summary.modes, entry.mode);
    insert_sorted(summary.workers, entry.worker);
    for (const SavedReduction& reduction : entry.reductions) {
      insert_sorted(seen.reductions, reduction.name);
    }
    seen.value = seen.value || has_value(entry);
    summary.bytes += record_bytes(entry);
    if (entry.shape) {
      summary.shape = entry.shape;
    }
  });
  for (std::size_t i = 0; i < facts.size(); ++i) {
    std::vector<std::string>& saved = facts[i].summary.saved;
    saved = std::move(all_seen[i].reductions);
    if (facts[i].summary.shape) {
      saved.emplace(saved.begin(), "shape");
    }
    if (all_seen[i].value) {
      saved.emplace(saved.begin(), "value");
    }
  }
  std::erase_if(facts, [](const TensorFacts& one) { return one.summary.steps == 0; });
  return facts;
}

constexpr std::size_t most_records = 64;  // of one tensor

/// Records that agree in this are taken to have one shape and dtype.
struct RecordKind {
  std::string_view worker;
  std::uint64_t length = 0;
  std::shared_ptr<const ValueType> type;  // holds both, or is null

  bool operator==(const RecordKind& other) const {
    const bool same = type == other.type || (type && other.type && *type == *other.type);
    return same && worker == other.worker && length == other.length;
  }
};

/// Finds the latest value of each tensor, and whether its shape or dtype may change over the steps and workers of
/// `query`: sets `shape_varies` from shapes saved by themselves, and adds to `others` one record for each worker and
/// each length of records. Records of one worker and of the same length are taken to have one shape and dtype, unless
/// the last is different.
void locate_values(const Trial& trial, const EntryQuery& query, std::vector<TensorFacts>& facts) {
  struct Seen {
    std::vector<RecordKind> records;
    std::optional<Shape> shape;         // saved by itself
    std::optional<GlobalStep> located;  // of `value`
  };
  std::vector<Seen> seen(facts.size());
  for_each_row(trial, query, facts, [&](std::size_t row, const TensorEntry& entry) {
    Seen& of_tensor = seen[row];
    TensorFacts& tensor = facts[row];
    if (entry.shape) {
      tensor.shape_varies = tensor.shape_varies || (of_tensor.shape && *of_tensor.shape != *entry.shape);
      of_tensor.shape = entry.shape;
    }
    if (!entry.value) {
      return;
    }
    if (of_tensor.located != entry.step) {  // by step, then worker: the first one's
      tensor.value = entry.value;
      of_tensor.located = entry.step;
    }
    if (of_tensor.records.size() == most_records) {
      return;
    }
    RecordKind kind{entry.worker, entry.value->length, entry.value->type};
    if (std::find(of_tensor.records.rbegin(), of_tensor.records.rend(), kind) == of_tensor.records.rend()) {
      of_tensor.records.push_back(std::move(kind));
      tensor.others.push_back(*entry.value);
    }
  });
}

/// The type of a value.
struct Head {
  std::string dtype;
  Shape shape;
};

/// From the place, if a value has no record; else from the beginning of the record. Nullopt if that cannot be read.
std::optional<Head> head_of(ValueReader& reader, const Place& place, const std::string& tensor) {
  if (!place.has_record()) {
    const ValueType& type = *place.type;
    return Head{type.unread_type.empty() ? std::string(to_string(type.dtype)) : type.unread_type, type.shape};
  }
  const Extent* const value = reader.open(place, tensor);
  return value == nullptr ? std::nullopt : std::optional(Head{std::string(to_string(value->dtype())), value->shape()});
}

}  // namespace

std::vector<std::string> saved_names(Trial& trial, const Selection& selection, const SelectionOptions& options,
                                     Diagnostics& messages) {
  std::vector<std::string> names = selection.every_tensor ? trial.tensor_names() : selection.tensors;
  if (selection.every_step && selection.every_worker) {
    return names;
  }
  std::unordered_set<std::string_view> seen;  // borrowed from the trial
  trial.for_each_entry(query_for(selection, options), [&](const TensorEntry& entry) {
    seen.insert(entry.tensor);
    return seen.size() < names.size();  // the rest could add nothing
  });
  for (const std::string& name : names) {
    if (!seen.contains(name) && contains(options.names, name)) {
      SelectionOptions of_name;
      of_name.names = {name};
      of_name.worker = options.worker;
      of_name.incomplete = options.incomplete;
      const NothingSelected why = why_nothing(trial, of_name);
      messages.fail(why.tag, why.text, ExitStatus::no);
    }
  }
  std::erase_if(names, [&](const std::string& name) { return !seen.contains(name); });
  return names;
}

std::vector<StepInfo> saved_steps(const Trial& trial, const Selection& selection, const SelectionOptions& options) {
  std::vector<StepInfo> infos = trial.step_infos();
  if (!selection.every_step) {
    std::erase_if(infos, [&](const StepInfo& info) { return !selection.steps.has(info.step); });
  }
  narrow(infos, trial, selection, options);
  return infos;
}

void narrow(std::vector<StepInfo>& infos, const Trial& trial, const Selection& selection,
            const SelectionOptions& options) {
  if (const std::optional<Mode> mode = only_mode(options)) {
    for (StepInfo& info : infos) {
      info.mode_step = trial.mode_step(info.step, *mode).value_or(info.mode_step);
      info.mode = *mode;
    }
  }
  if (!selection.narrows_entries()) {
    return;
  }
  for (StepInfo& info : infos) {
    info.tensors = 0;
    info.workers.clear();
    info.bytes = 0;
  }
  auto info = infos.begin();
  std::string_view last;
  trial.for_each_entry(query_for(selection, options), [&](const TensorEntry& entry) {
    while (info != infos.end() && info->step < entry.step) {
      ++info;
    }
    if (info == infos.end()) {
      return false;
    }
    if (info->step != entry.step) {
      return true;
    }
    if (info->tensors == 0 || last != entry.tensor) {
      ++info->tensors;
      last = entry.tensor;
    }
    insert_sorted(info->workers, entry.worker);
    info->bytes += record_bytes(entry);
    return true;
  });
  std::erase_if(infos, [](const StepInfo& step) { return step.tensors == 0; });
}

std::vector<TensorFacts> tensor_facts(const Trial& trial, const Selection& selection,
                                      const std::vector<std::string>& names, const SelectionOptions& options,
                                      bool locate) {
  if (names.empty()) {
    return {};
  }
  EntryQuery query = query_for(selection, options);
  std::vector<TensorFacts> facts;
  if (selection.every_step && selection.every_worker) {
    facts = mapped(trial.summaries(query.tensors),
                   [](TensorSummary& summary) { return TensorFacts{.summary = std::move(summary)}; });
  } else {
    query.tensors = names;
    facts = added_up(trial, query);
  }
  if (locate) {
    locate_values(trial, query, facts);
  }
  return facts;
}

void locate_first(const Trial& trial, std::vector<TensorFacts>& facts) {
  EntryQuery query = {.include_incomplete = true};  // of the first steps, not of all
  query.steps.emplace();
  for (const TensorFacts& row : facts) {
    query.steps->push_back(row.summary.first_step);
    query.tensors.push_back(row.summary.tensor);
  }
  detail::sort_each_once(*query.steps);
  std::set<std::string_view> seen;
  for_each_row(trial, query, facts, [&](std::size_t i, const TensorEntry& entry) {
    TensorFacts& row = facts[i];
    if (entry.step == row.summary.first_step) {
      const PlaceCell place = place_of(entry);
      row.written = seen.insert(row.summary.tensor).second ? place : std::min(row.written, place);
    }
  });
}

void read_types(const Trial& trial, std::vector<TensorFacts>& facts, Diagnostics& messages) {
  ValueReader reader(trial);
  for (TensorFacts& row : facts) {
    if (!row.value) {
      continue;
    }
    const std::optional<Head> head = head_of(reader, *row.value, row.summary.tensor);
    if (!head) {
      messages.report_record(*reader.problem(), trial.path(), single_quoted(row.summary.tensor), Level::warning);
      continue;
    }
    row.dtype = head->dtype;
    if (!row.summary.shape) {
      row.summary.shape = head->shape;
    }
    for (const Place& other : row.others) {
      if (row.shape_varies && row.dtype_varies) {
        break;
      }
      // The command that prints the record reports what is wrong with it.
      const std::optional<Head> one = other == *row.value ? std::nullopt : head_of(reader, other, row.summary.tensor);
      row.shape_varies = row.shape_varies || (one && one->shape != head->shape);
      row.dtype_varies = row.dtype_varies || (one && one->dtype != head->dtype);
    }
  }
}

std::map<std::string, std::vector<std::string>, std::less<>> collections_of(const Trial& trial) {
  std::map<std::string, std::vector<std::string>, std::less<>> result;
  for (const auto& [name, collection] : trial.collections()) {
    for (std::string& tensor : trial.tensor_names({.collections = {name}})) {
      result[std::move(tensor)].push_back(name);
    }
  }
  return result;
}

}  // namespace smd::tool::ls
