// SPDX-License-Identifier: Apache-2.0
// Visits the entries that a query selects, step by step.
#include <smd/trial.hpp>

#include <algorithm>
#include <iterator>

#include "text/mapped.hpp"
#include "trial/trial_state.hpp"

namespace smd {

using detail::layout::StepRow;
using detail::trial::Item;
using detail::trial::no_id;
using detail::trial::ShapeList;
using detail::trial::Snapshot;
using detail::trial::Step;

namespace {

/// A tensor in a row of a step.
struct Found {
  std::uint32_t rank = 0;  ///< Position of the tensor in byte order.
  std::uint32_t row = 0;   ///< Position of the row in the step: by worker; the last of a worker counts.
  std::uint32_t tensor = 0;
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
      detail::sort_each_once(ids_);
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
      std::ranges::copy_if(ids_, std::back_inserter(tensors), [&](std::uint32_t id) { return !list.of(id).empty(); });
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

/// Visits the selected entries of a snapshot, in the order step, tensor, worker.
class EntryWalk {
 public:
  using Visit = std::function<bool(const TensorEntry&)>;

  /// All must outlive this.
  EntryWalk(const Snapshot& snapshot, const detail::trial::Records& records, const EntryQuery& query,
            const Visit& visit)
      : snapshot_(snapshot),
        catalog_(snapshot.catalog),
        rank_(catalog_.tensor_rank()),
        records_(records),
        query_(query),
        visit_(visit),
        wanted_(catalog_, query.tensors) {}

  void all_steps() {
    bool goes_on = true;
    snapshot_.steps.for_each_chunk([&](const detail::trial::StepChunk& chunk) {
      goes_on = goes_on && chunk.for_each([&](const Step& step) { return visit_step(step); });
    });
  }

  void steps(const std::vector<GlobalStep>& steps) {
    std::optional<GlobalStep> last;
    auto next = snapshot_.steps.begin();  // after the last one found, where the next one mostly is
    for (const GlobalStep asked : steps) {
      if (last == asked) {
        continue;
      }
      last = asked;
      if (next == snapshot_.steps.end() || next->number != asked.value) {
        next = snapshot_.steps.partition_point([&](const Step& step) { return step.number < asked.value; });
      }
      if (next != snapshot_.steps.end() && next->number == asked.value) {
        const Step& step = *next;
        ++next;
        if (!visit_step(step)) {
          return;
        }
      }
    }
  }

 private:
  /// What rows at the same position of successive steps mostly have in common.
  struct RowInCommon {
    std::optional<std::uint32_t> list;
    std::vector<std::uint32_t> tensors;       ///< The wanted tensors of the list of items, by name.
    std::uint32_t event_file = no_id;         ///< Id of `file`.
    std::shared_ptr<const std::string> file;  ///< Null if not needed yet.
  };

  // Each `visit_…` returns false if the visit is over.

  bool visit_step(const Step& step) {
    if (!query_.include_incomplete && !query_.superseded && !snapshot_.complete(step.number)) {
      return true;
    }
    found_.clear();
    const std::span<const StepRow> rows = snapshot_.rows_of(step);
    common_.resize(std::max(common_.size(), rows.size()));
    for (std::uint32_t r = 0; r < rows.size(); ++r) {
      const StepRow& row = rows[r];
      RowInCommon& common = common_[r];
      if (row.event_file == no_id || row.event_file != common.event_file) {
        common.event_file = row.event_file;
        common.file.reset();
      }
      if (!wants(row)) {
        continue;
      }
      update(common, row);
      if (rows.size() == 1 && catalog_.shapes(row) == nullptr) {
        return !arrived(row) || std::ranges::all_of(common.tensors, [&](std::uint32_t tensor) {
          return visit_tensor(row, tensor, common.file);
        });
      }
      find_tensors(row, r, common);
    }
    return visit_found(rows);
  }

  [[nodiscard]] bool arrived(const StepRow& row) const { return snapshot_.arrived(row, query_.arrivals); }

  [[nodiscard]] bool wants(const StepRow& row) const {
    // An earlier row may be that of a step's first worker.
    if (!query_.first_worker_only && !arrived(row)) {
      return false;
    }
    if (query_.mode && *query_.mode != Mode::global && row.mode != *query_.mode) {
      return false;
    }
    return query_.workers.empty() || detail::contains(query_.workers, snapshot_.worker(row));
  }

  void update(RowInCommon& common, const StepRow& row) const {
    const std::uint32_t list = catalog_.item_list_id(row);
    if (common.list == list) {
      return;
    }
    common.list = list;
    wanted_.collect(catalog_.items(row), common.tensors);
    std::ranges::sort(common.tensors, [&](std::uint32_t a, std::uint32_t b) { return rank_[a] < rank_[b]; });
  }

  void find_tensors(const StepRow& row, std::uint32_t position, const RowInCommon& common) {
    for (const std::uint32_t tensor : common.tensors) {
      found_.push_back({rank_[tensor], position, tensor});
    }
    if (const ShapeList* const shapes = catalog_.shapes(row)) {
      wanted_.for_each_shape(*shapes, [&](std::uint32_t tensor) {
        if (catalog_.items(row).of(tensor).empty()) {
          found_.push_back({rank_[tensor], position, tensor});
        }
      });
    }
  }

  bool visit_found(std::span<const StepRow> rows) {
    std::ranges::stable_sort(found_, {}, &Found::rank);
    // Whether the next one is of the same tensor, or worker.
    const auto same_tensor = [&](std::size_t i) {
      return i + 1 < found_.size() && found_[i + 1].tensor == found_[i].tensor;
    };
    const auto same_worker = [&](std::size_t i) {
      return rows[found_[i + 1].row].file.worker == rows[found_[i].row].file.worker;
    };
    for (std::size_t i = 0; i < found_.size(); ++i) {
      if (!snapshot_.several_count && same_tensor(i) && same_worker(i)) {
        continue;
      }
      const StepRow& row = rows[found_[i].row];
      if (arrived(row) && !visit_tensor(row, found_[i].tensor, common_[found_[i].row].file)) {
        return false;
      }
      if (query_.first_worker_only) {
        const auto more_of_worker = [&] {
          return snapshot_.several_count && rows[found_[i + 1].row].file.worker == row.file.worker;
        };
        while (same_tensor(i) && !more_of_worker()) {
          ++i;
        }
      }
    }
    return true;
  }

  bool visit_tensor(const StepRow& row, std::uint32_t tensor, std::shared_ptr<const std::string>& file) {
    if (!file) {
      file = records_.file(snapshot_, row);
    }
    return !records_.fill(snapshot_, row, tensor, file, entry_) || visit_(entry_);
  }

  const Snapshot& snapshot_;
  const detail::trial::Catalog& catalog_;
  const std::vector<std::uint32_t>& rank_;  // by id of the tensor
  const detail::trial::Records& records_;
  const EntryQuery& query_;
  const Visit& visit_;
  const WantedTensors wanted_;
  std::vector<Found> found_;
  std::vector<RowInCommon> common_;  // by the row's position in the step
  TensorEntry entry_;                // reused, so that its texts are not allocated again
};

}  // namespace

void Trial::for_each_entry(const EntryQuery& query, const std::function<bool(const TensorEntry&)>& visit) const {
  std::shared_ptr<const Snapshot> snapshot = impl_->snapshot();
  if (query.superseded) {
    snapshot = snapshot->superseded;
  }
  if (!snapshot) {
    return;
  }
  EntryWalk walk(*snapshot, impl_->records(), query, visit);
  if (query.steps) {
    walk.steps(*query.steps);
  } else {
    walk.all_steps();
  }
}

}  // namespace smd
