// SPDX-License-Identifier: Apache-2.0
#include "layout/checkpoints/checkpoints_layout.hpp"

#include "layout/series_rows.hpp"
#include "text/escape.hpp"
#include "text/mapped.hpp"

#include <algorithm>
#include <bit>
#include <span>
#include <unordered_map>
#include <variant>

namespace smd::detail::layout {

namespace {

double seconds_of(std::chrono::system_clock::time_point time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

/// Collects the entries of one row.
class RowEntries {
 public:
  void reserve(std::size_t count) {
    names_.reserve(count);
    types_.reserve(count);
    starts_.reserve(count);
    lengths_.reserve(count);
  }
  /// Returns the number of a type in this row.
  std::uint32_t add_type(ValueType type) {
    Fnv hash;
    hash.add(type);
    const std::uint32_t kind = types_.add_kind(std::move(type));
    type_hashes_.resize(types_.kinds().size());
    type_hashes_[kind] = hash.value;
    return kind;
  }
  void add(std::uint32_t name, std::uint32_t type, std::uint64_t start, std::uint64_t length) {
    types_.push_back_kind(type);
    name_hash_.add(name);
    type_hash_.add(type_hashes_[type]);
    names_.push_back(name);
    starts_.push_back(start);
    lengths_.push_back(length);
  }
  [[nodiscard]] bool empty() const noexcept { return names_.empty(); }

  Payload finish(Tables& tables, SharedLists<NameList>& names, SharedLists<TypeList>& types, double wall_time) && {
    Payload payload = tables.arena.columns(starts_, lengths_);
    payload.names = names.id_of(std::move(names_), name_hash_.value);
    payload.types = types.id_of(std::move(types_), type_hash_.value);
    payload.wall_time = wall_time;
    return payload;
  }

 private:
  NameList names_;
  TypeList types_;
  std::vector<std::uint64_t> starts_;
  std::vector<std::uint64_t> lengths_;
  Fnv name_hash_;
  Fnv type_hash_;
  std::vector<std::uint64_t> type_hashes_;  ///< By index in `types_.kinds()`.
};

class RowFiller {
 public:
  RowFiller(LoadedSteps& loaded, ProblemList& problems)
      : loaded_(loaded), tables_(loaded.tables.emplace_back()), problems_(problems) {}

  /// Reserves memory for a number of names.
  void reserve(std::size_t names) {
    tables_.names.reserve(names);
    last_file_.reserve(names);
    fresh_.reserve(names);
  }
  /// `fresh`: no earlier look has returned the row.
  void add_file(const CheckpointRow& place, const TensorFileHeader& file, bool fresh) {
    RowEntries row;
    const wire::FileTensors& entries = file.header.entries;
    row.reserve(entries.size());
    std::vector<std::uint32_t> types(entries.types(), no_id);  // in the row, by number in the file
    if (!entries.empty() && place.prefix.empty()) {
      tables_.names.share(entries.texts());
    }
    std::string name;
    std::unordered_map<std::uint32_t, std::size_t> again;  // by id of a name: how often the file has it
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const wire::FileTensor entry = entries[i];
      if (!entry.sound) {
        continue;
      }
      if (!entry.meaning.empty()) {
        problems_.add(make_problem(ProblemKind::note, printable(place.path) + ": tensor " + in_quotes(entry.name) +
                                                          ": " + std::string(entry.meaning)));
      }
      const ValueKind kind = entry.scalar && place.facts    ? ValueKind::number
                             : place.main && !entry.further ? ValueKind::parameter
                                                            : ValueKind::further;
      const std::uint32_t first = place.prefix.empty()
                                      ? tables_.names.add_shared(entry.name)
                                      : tables_.names.add(name.assign(place.prefix).append(entry.name));
      std::uint32_t id = noted(first, kind, fresh);
      while (last_file_[id] == &place) {  // keys may contain dots, and numbers look like texts
        name.assign(tables_.names[first])
            .append("#")
            .append(std::to_string(++again.try_emplace(first, 1).first->second));
        id = noted(tables_.names.add(name), kind, fresh);
      }
      if (id != first) {
        problems_.add(make_problem(ProblemKind::remark,
                                   "another tensor has the name " + in_quotes(tables_.names[first]) + ": this one is " +
                                       in_quotes(tables_.names[id]),
                                   place.path));
      }
      if (last_file_[id] != nullptr && last_file_[id]->step == place.step) {
        problems_.add({ProblemKind::damaged, place.path, entry.offset,
                       "tensor " + in_quotes(tables_.names[id]) + " stands in " + in_quotes(last_file_[id]->path) +
                           " too: that one counts",
                       GlobalStep(place.step)});
        continue;
      }
      last_file_[id] = &place;
      if (types[entry.type] == no_id) {
        types[entry.type] = row.add_type({ValueForm::elements,
                                          entry.dtype,
                                          {entry.shape.begin(), entry.shape.end()},
                                          {entry.strides.begin(), entry.strides.end()},
                                          std::string(entry.unread_type),
                                          std::string(entry.meaning),
                                          entry.source ? entry.source : file.source});
      }
      row.add(id, types[entry.type], entry.offset, entry.length);
    }
    if (place.facts && file.torch) {
      add_facts(place, *file.torch, seconds_of(file.written), fresh, row);
    }
    if (fresh && !row.empty()) {
      const StepRow step{.file = {place.step, 0, place.id},
                         .mode_step = place.step,
                         .payload = static_cast<std::uint32_t>(tables_.payloads.size()),
                         .event_file = tables_.paths.add(place.path)};
      tables_.payloads.push_back(std::move(row).finish(tables_, name_lists_, type_lists_, seconds_of(file.written)));
      loaded_.rows.push_back({step, 0});
    }
  }

  /// Returns rows for the numbers of a log whose rows' ids are at least `first_id`. `steps`: those of all files, in
  /// order.
  LoadedSteps log_rows(const CheckpointListing& listing, const TrainerLog& log, std::uint64_t first_id,
                       const std::vector<std::int64_t>& steps, double wall_time) {
    LoadedSteps logged;
    StepRowWriter rows(logged, 0);
    rows.begin_file(rows.tables().paths.add(listing.log_path), 0);
    std::vector<std::uint32_t> ids(log.names.size(), no_id);
    auto row = listing.log_rows.begin();
    auto file = steps.begin();  // the next one that is not before the last row
    log.for_each_step([&](std::int64_t step, std::span<const TrainerLog::Number> numbers) {
      const std::uint64_t id = (row++)->id;
      if (id < first_id) {
        return;
      }
      rows.begin_row(step, id, file != steps.end() && *file <= step);
      file = std::lower_bound(file, steps.end(), step);
      for (const auto& [name, value] : numbers) {
        if (ids[name] == no_id) {
          ids[name] = rows.tables().names.add(log.names[name]);
          noted(tables_.names.add(log.names[name]), ValueKind::number, true);
        }
        rows.add(ids[name], ValueForm::number, Dtype::float64, std::bit_cast<std::uint64_t>(value),
                 std::bit_cast<std::uint64_t>(wall_time));
      }
    });
    rows.finish(listing);
    return logged;
  }

  FreshNames names() && { return {tables_.names.texts(), std::move(fresh_)}; }

 private:
  /// Notes that a row has a name, and returns the name's id.
  std::uint32_t noted(std::uint32_t id, ValueKind kind, bool fresh) {
    if (id >= last_file_.size()) {
      last_file_.push_back(nullptr);
      kinds_.push_back(0);
    }
    if (fresh && (kinds_[id] & bit_of(kind)) == 0) {
      kinds_[id] |= bit_of(kind);
      fresh_.emplace_back(id, kind);
    }
    return id;
  }

  /// Adds the numbers beside the tensors that are scalars of the checkpoint.
  void add_facts(const CheckpointRow& place, const pytorch::TorchFile& file, double wall_time, bool fresh,
                 RowEntries& row) {
    std::optional<std::uint32_t> type;
    for (const pytorch::Fact& fact : file.facts) {
      const auto* const whole = std::get_if<std::int64_t>(&fact.value);
      const auto* const real = std::get_if<double>(&fact.value);
      if (!fact.scalar || (whole == nullptr && real == nullptr)) {
        continue;
      }
      const std::uint32_t id = noted(tables_.names.add(fact.name), ValueKind::number, fresh);
      if (last_file_[id] == &place) {
        problems_.add(make_problem(
            ProblemKind::remark, "number " + in_quotes(fact.name) + " is left out: a tensor has its name", place.path));
        continue;
      }
      last_file_[id] = &place;
      type = type ? type : row.add_type({ValueForm::number, Dtype::float64});
      row.add(id, *type, std::bit_cast<std::uint64_t>(real != nullptr ? *real : static_cast<double>(*whole)),
              std::bit_cast<std::uint64_t>(wall_time));
    }
  }

  LoadedSteps& loaded_;
  Tables& tables_;
  SharedLists<NameList> name_lists_{tables_.name_lists};
  SharedLists<TypeList> type_lists_{tables_.type_lists};
  ProblemList& problems_;
  std::vector<const CheckpointRow*> last_file_;  ///< By id of a name: the last file that has it, or null.
  std::vector<std::uint16_t> kinds_;             ///< By id of a name: its kinds in `fresh_`, a bit for each.
  std::vector<std::pair<std::uint32_t, ValueKind>> fresh_;
};

}  // namespace

std::vector<LogRow> list_log_rows(const TrainerLog& log, std::size_t& replaced) {
  std::vector<LogRow> rows;
  replaced = log.for_each_step([&](std::int64_t step, std::span<const TrainerLog::Number> numbers) {
    Fnv hash;
    for (const auto& [name, value] : numbers) {
      hash.add(std::hash<std::string_view>()(log.names[name]));
      hash.add(std::bit_cast<std::uint64_t>(value));
    }
    rows.push_back({step, hash.value, 0});
  });
  return rows;
}

FreshNames fill_rows(storage::Storage& storage, const CheckpointListing& listing, std::uint64_t first_id,
                     LoadedSteps& loaded, ProblemList& problems) {
  RowFiller filler(loaded, problems);
  // By step, so that files of one checkpoint are adjacent.
  std::vector<const CheckpointRow*> order = mapped(listing.rows, [](const CheckpointRow& row) { return &row; });
  std::ranges::stable_sort(order, {}, &CheckpointRow::step);
  std::map<std::int64_t, std::size_t> names_of_step;
  std::size_t most = 0;
  for (const CheckpointRow& row : listing.rows) {
    most = std::max(most, names_of_step[row.step] += listing.headers.find(row.path)->header.entries.size());
  }
  filler.reserve(most);  // most steps have the same names
  std::vector<std::int64_t> steps;
  for (const CheckpointRow* const row : order) {
    filler.add_file(*row, *listing.headers.find(row->path), row->id >= first_id);
    steps.push_back(row->step);
  }
  LoadedSteps logged;
  if (const auto log = listing.logs.find(listing.log_path); log && *log) {
    const auto written = storage.written_at(listing.log_path).value_or(std::chrono::system_clock::time_point());
    logged = filler.log_rows(listing, **log, first_id, steps, seconds_of(written));
  }
  FreshNames names = std::move(filler).names();
  for (RowSequence& sequence : logged.rows) {
    sequence.tables = static_cast<std::uint32_t>(loaded.tables.size());
    loaded.rows.push_back(sequence);
  }
  if (!logged.rows.empty()) {
    loaded.tables.push_back(std::move(logged.tables.front()));
  }
  std::ranges::sort(loaded.rows, [&](const LoadedSteps::Row& a, const LoadedSteps::Row& b) {
    return listing.before(a.row.file, b.row.file);
  });
  return names;
}

}  // namespace smd::detail::layout
