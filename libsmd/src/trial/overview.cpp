// SPDX-License-Identifier: Apache-2.0
// Queries over the whole catalog, with one result for each step, tensor or entry.
#include "trial/trial_impl.hpp"

#include <smd/trial.hpp>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <vector>

namespace smd {

using detail::layout::RowSequence;
using detail::layout::StepRow;
using detail::trial::Item;
using detail::trial::no_id;
using detail::trial::ShapeList;
using detail::trial::Snapshot;
using detail::trial::Step;

namespace {

std::uint64_t payload_bytes(const detail::trial::Catalog& catalog, const detail::layout::Payload& payload) {
  std::uint64_t bytes = 0;
  for (std::uint32_t i = 0; i < payload.count; ++i) {
    bytes += catalog.bytes(payload, i);
  }
  return bytes;
}

/// Returns the bytes of one entry in all rows of a sequence. A number takes the same in each.
std::uint64_t entry_bytes(const detail::trial::Catalog& catalog, const RowSequence& rows, std::uint32_t position) {
  const detail::layout::Payload first = catalog.payload(rows.row);
  if (catalog.type(first, position).kind == detail::layout::PlaceKind::number) {
    return rows.count * catalog.bytes(first, position);
  }
  std::uint64_t bytes = 0;
  for (std::uint32_t i = 0; i < rows.count; ++i) {
    bytes += catalog.bytes(first.of_row(i), position);
  }
  return bytes;
}

/// The data of a `TensorSummary`, in ids.
struct Tally {
  std::size_t steps = 0;
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::uint64_t bytes = 0;
  std::uint8_t modes = 0;
  bool value = false;
  std::vector<std::uint32_t> workers;     // ranks of their names in byte order, ascending
  std::vector<std::uint32_t> reductions;  // ascending
  const ShapeList::Saved* shape = nullptr;

  void saw(const RowSequence& rows, std::uint32_t worker_rank) {
    const StepRow& row = rows.row;
    first = steps == 0 ? row.file.step : first;
    steps += steps != 0 && last == rows.last_step() ? 0 : rows.count;  // equal for another item or worker of a step
    last = rows.last_step();
    modes = static_cast<std::uint8_t>(modes | (1u << static_cast<unsigned>(row.mode)));
    add_once(workers, worker_rank);
  }
  static void add_once(std::vector<std::uint32_t>& ids, std::uint32_t id) {
    // In the first step ids come in order; in later steps most are known.
    const auto place = std::lower_bound(ids.begin(), ids.end(), id);
    if (place == ids.end() || *place != id) {
      ids.insert(place, id);
    }
  }
};

/// `by_rank`: ids of workers in the byte order of their names.
TensorSummary summary(const Snapshot& snapshot, const std::vector<std::uint32_t>& by_rank, std::uint32_t tensor,
                      const Tally& tally) {
  TensorSummary row;
  row.tensor = std::string(snapshot.catalog.tensors()[tensor]);
  row.steps = tally.steps;
  row.first_step = GlobalStep(tally.first);
  row.last_step = GlobalStep(tally.last);
  row.bytes = tally.bytes;
  for (const Mode mode : {Mode::train, Mode::eval, Mode::predict, Mode::global}) {
    if ((tally.modes >> static_cast<unsigned>(mode) & 1u) != 0) {
      row.modes.push_back(mode);
    }
  }
  for (const std::uint32_t rank : tally.workers) {
    row.workers.push_back(*snapshot.listing->workers[by_rank[rank]]);
  }
  row.workers.erase(std::unique(row.workers.begin(), row.workers.end()), row.workers.end());
  for (const std::uint32_t reduction : tally.reductions) {
    row.saved.emplace_back(snapshot.catalog.reductions()[reduction]);
  }
  std::sort(row.saved.begin(), row.saved.end());
  if (tally.shape != nullptr) {
    row.saved.insert(row.saved.begin(), "shape");
    row.shape = tally.shape->shape;
  }
  if (tally.value) {
    row.saved.insert(row.saved.begin(), "value");
  }
  return row;
}

}  // namespace

namespace {

StepInfo info_of(const Snapshot& snapshot, const Step& step, std::vector<std::uint32_t>& tensors) {
  StepInfo info;
  info.step = GlobalStep(step.number);
  info.mode = step.mode;
  info.mode_step = ModeStep(step.mode_step);
  info.complete = snapshot.complete(step.number);
  tensors.clear();
  for (const StepRow& row : snapshot.rows_of(step)) {
    const std::string_view worker = snapshot.worker(row);
    if (info.workers.empty() || info.workers.back() != worker) {
      info.workers.emplace_back(worker);
    }
    info.bytes += payload_bytes(snapshot.catalog, snapshot.catalog.payload(row));
    for (const Item& item : snapshot.catalog.items(row).items) {
      tensors.push_back(item.tensor);
    }
    if (const ShapeList* const shapes = snapshot.catalog.shapes(row)) {
      for (const ShapeList::Saved& saved : shapes->shapes) {
        tensors.push_back(saved.tensor);
      }
    }
  }
  std::sort(tensors.begin(), tensors.end());
  info.tensors = static_cast<std::size_t>(std::unique(tensors.begin(), tensors.end()) - tensors.begin());
  return info;
}

}  // namespace

std::vector<StepInfo> Trial::step_infos() const {
  const std::shared_ptr<const Snapshot> snapshot = impl_->snapshot();
  std::vector<StepInfo> infos;
  infos.reserve(snapshot->steps.size());
  std::vector<std::uint32_t> tensors;
  for (const Step& step : snapshot->steps) {
    infos.push_back(info_of(*snapshot, step, tensors));
  }
  return infos;
}

std::optional<StepInfo> Trial::step_info(GlobalStep step) const {
  const std::shared_ptr<const Snapshot> snapshot = impl_->snapshot();
  const Step* const found = snapshot->find(step.value);
  std::vector<std::uint32_t> tensors;
  return found == nullptr ? std::nullopt : std::optional(info_of(*snapshot, *found, tensors));
}

std::vector<TensorSummary> Trial::summaries(const std::vector<std::string>& names) const {
  const std::shared_ptr<const Snapshot> snapshot = impl_->snapshot();
  const detail::trial::Catalog& catalog = snapshot->catalog;
  std::vector<Tally> tallies(catalog.tensors().size());
  const std::vector<std::uint32_t>& ranks = snapshot->listing->worker_rank;
  std::vector<std::uint32_t> by_rank(ranks.size());
  for (std::uint32_t worker = 0; worker < ranks.size(); ++worker) {
    by_rank[ranks[worker]] = worker;
  }
  snapshot->for_each_sequence([&](const RowSequence& saved_rows) {
    const StepRow& row = saved_rows.row;
    for (const Item& item : catalog.items(row).items) {
      Tally& tally = tallies[item.tensor];
      tally.saw(saved_rows, ranks[row.file.worker]);
      tally.bytes += entry_bytes(catalog, saved_rows, item.position);
      if (item.reduction == no_id) {
        tally.value = true;
      } else {
        Tally::add_once(tally.reductions, item.reduction);
      }
    }
    if (const ShapeList* const shapes = catalog.shapes(row)) {
      for (const ShapeList::Saved& saved : shapes->shapes) {
        tallies[saved.tensor].saw(saved_rows, ranks[row.file.worker]);
        tallies[saved.tensor].shape = &saved;
      }
    }
  });
  std::vector<TensorSummary> rows;
  std::vector<bool> wanted(tallies.size(), names.empty());
  for (const std::string& name : names) {
    if (const std::uint32_t id = catalog.tensors().find(name); id != no_id) {
      wanted[id] = true;
    }
  }
  for (const std::uint32_t id : catalog.sorted_tensors()) {
    if (wanted[id] && tallies[id].steps > 0) {
      rows.push_back(summary(*snapshot, by_rank, id, tallies[id]));
    }
  }
  return rows;
}

namespace {

/// A tensor in a row of a step.
struct Found {
  std::uint32_t rank = 0;  ///< Position of the tensor in byte order.
  std::uint32_t row = 0;   ///< Position of the row in the step: by worker; the last of a worker counts.
  std::uint32_t tensor = 0;
};

/// Sorts by rank, stably.
class ByRank {
 public:
  /// @param ranks the number of ranks.
  void sort(std::vector<Found>& found, std::size_t ranks) {
    const auto before = [](const Found& a, const Found& b) { return a.rank < b.rank; };
    if (ranks > 4 * found.size()) {
      std::stable_sort(found.begin(), found.end(), before);
      return;
    }
    starts_.assign(ranks + 1, 0);
    for (const Found& one : found) {
      ++starts_[one.rank + 1];
    }
    std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
    sorted_.resize(found.size());
    for (const Found& one : found) {
      sorted_[starts_[one.rank]++] = one;
    }
    found.swap(sorted_);
  }

 private:
  std::vector<std::size_t> starts_;
  std::vector<Found> sorted_;
};

/// The tensors that a query asks for. A few tensors are searched for in each list, so that querying all tensors one by
/// one does not visit all entries each time.
class WantedTensors {
 public:
  WantedTensors(const detail::trial::Catalog& catalog, const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      if (const std::uint32_t id = catalog.tensors().find(name); id != no_id) {
        ids_.push_back(id);
      }
    }
    few_ = !names.empty() && ids_.size() <= few;
    if (few_) {
      std::sort(ids_.begin(), ids_.end());
      ids_.erase(std::unique(ids_.begin(), ids_.end()), ids_.end());
      return;
    }
    set_.assign(catalog.tensors().size(), names.empty());
    for (const std::uint32_t id : ids_) {
      set_[id] = true;
    }
  }

  /// Sets `tensors` to the wanted tensors that have items in a list, each once, ascending.
  void collect(const detail::trial::ItemList& list, std::vector<std::uint32_t>& tensors) const {
    tensors.clear();
    if (few_) {
      std::copy_if(ids_.begin(), ids_.end(), std::back_inserter(tensors),
                   [&](std::uint32_t id) { return !list.of(id).empty(); });
      return;
    }
    for (const Item& item : list.items) {
      if (set_[item.tensor] && (tensors.empty() || tensors.back() != item.tensor)) {
        tensors.push_back(item.tensor);
      }
    }
  }

  /// Calls `visit(id)` for the wanted tensors that have shapes in a list, ascending.
  template <class Visit>
  void for_each_shape(const ShapeList& list, const Visit& visit) const {
    if (few_) {
      for (const std::uint32_t id : ids_) {
        if (list.of(id) != nullptr) {
          visit(id);
        }
      }
      return;
    }
    for (const ShapeList::Saved& saved : list.shapes) {
      if (set_[saved.tensor]) {
        visit(saved.tensor);
      }
    }
  }

 private:
  static constexpr std::size_t few = 8;

  bool few_ = false;
  std::vector<std::uint32_t> ids_;  // ascending if few
  detail::trial::TensorSet set_;    // by id, if not few
};

}  // namespace

void Trial::for_each_entry(const EntryQuery& query, const std::function<bool(const TensorEntry&)>& visit) const {
  const std::shared_ptr<const Snapshot> snapshot = impl_->snapshot();
  const detail::trial::Catalog& catalog = snapshot->catalog;
  const WantedTensors wanted(catalog, query.tensors);
  const auto wants_worker = [&](std::string_view worker) {
    return query.workers.empty() ||
           std::find(query.workers.begin(), query.workers.end(), worker) != query.workers.end();
  };
  /// What rows at the same position of successive steps mostly have in common.
  struct Wanted {
    std::optional<std::uint32_t> list;
    std::vector<std::uint32_t> tensors;  ///< The wanted tensors of the list of items, by name.
    std::uint32_t event_file = no_id;    ///< Id of `path`.
    std::string path;                    ///< Of the event file; empty if not needed yet.
  };
  std::vector<Found> found;
  ByRank by_rank;
  std::vector<Wanted> lists;
  TensorEntry entry;  // reused, so that its texts are not allocated again
  const auto visit_tensor = [&](const StepRow& row, std::uint32_t tensor, std::string& path) {
    if (path.empty()) {
      path = impl_->records().event_path(*snapshot, row);
    }
    return !impl_->records().fill(*snapshot, row, tensor, path, entry) || visit(entry);
  };
  const std::vector<std::uint32_t>& rank = catalog.tensor_rank();
  const auto visit_step = [&](const Step& step) {
    if (!query.include_incomplete && !snapshot->complete(step.number)) {
      return true;
    }
    found.clear();
    const std::span<const StepRow> rows = snapshot->rows_of(step);
    lists.resize(std::max(lists.size(), rows.size()));
    for (std::uint32_t r = 0; r < rows.size(); ++r) {
      const StepRow& row = rows[r];
      if (row.event_file == no_id || row.event_file != lists[r].event_file) {
        lists[r].event_file = row.event_file;
        lists[r].path.clear();
      }
      if (row.file.id < query.arrivals.first || row.file.id > query.arrivals.last) {
        continue;
      }
      if ((query.mode && *query.mode != Mode::global && row.mode != *query.mode) ||
          !wants_worker(snapshot->worker(row))) {
        continue;
      }
      Wanted& of_list = lists[r];
      if (const std::uint32_t list = catalog.item_list_id(row); of_list.list != list) {
        of_list.list = list;
        wanted.collect(catalog.items(row), of_list.tensors);
        std::sort(of_list.tensors.begin(), of_list.tensors.end(),
                  [&](std::uint32_t a, std::uint32_t b) { return rank[a] < rank[b]; });
      }
      if (rows.size() == 1 && catalog.shapes(row) == nullptr) {
        return std::all_of(of_list.tensors.begin(), of_list.tensors.end(),
                           [&](std::uint32_t tensor) { return visit_tensor(row, tensor, of_list.path); });
      }
      for (const std::uint32_t tensor : of_list.tensors) {
        found.push_back({rank[tensor], r, tensor});
      }
      if (const ShapeList* const shapes = catalog.shapes(row)) {
        wanted.for_each_shape(*shapes, [&](std::uint32_t tensor) {
          if (catalog.items(row).of(tensor).empty()) {
            found.push_back({rank[tensor], r, tensor});
          }
        });
      }
    }
    by_rank.sort(found, catalog.tensors().size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      const bool same_tensor = i + 1 < found.size() && found[i + 1].tensor == found[i].tensor;
      if (same_tensor && !snapshot->shows_superseded &&
          rows[found[i + 1].row].file.worker == rows[found[i].row].file.worker) {
        continue;
      }
      const StepRow& row = rows[found[i].row];
      if (!visit_tensor(row, found[i].tensor, lists[found[i].row].path)) {
        return false;
      }
      if (query.first_worker_only) {
        const auto more_of_worker = [&] {
          return snapshot->shows_superseded && rows[found[i + 1].row].file.worker == row.file.worker;
        };
        while (i + 1 < found.size() && found[i + 1].tensor == found[i].tensor && !more_of_worker()) {
          ++i;
        }
      }
    }
    return true;
  };
  if (!query.steps) {
    bool goes_on = true;
    snapshot->steps.for_each_chunk(
        [&](const detail::trial::StepChunk& chunk) { goes_on = goes_on && chunk.for_each(visit_step); });
    return;
  }
  std::optional<GlobalStep> last;
  auto next = snapshot->steps.begin();  // after the last one found, where the next one mostly is
  for (const GlobalStep asked : *query.steps) {
    if (last == asked) {
      continue;
    }
    last = asked;
    if (next == snapshot->steps.end() || next->number != asked.value) {
      next = snapshot->steps.partition_point([&](const Step& step) { return step.number < asked.value; });
    }
    if (next != snapshot->steps.end() && next->number == asked.value) {
      const Step& step = *next;
      ++next;
      if (!visit_step(step)) {
        return;
      }
    }
  }
}

}  // namespace smd
