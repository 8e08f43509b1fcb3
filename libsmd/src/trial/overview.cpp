// SPDX-License-Identifier: Apache-2.0
// Queries over the whole catalog, with one result for each step or tensor.
#include "trial/trial_state.hpp"

#include <smd/trial.hpp>

#include <algorithm>
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
  if (catalog.type(first, position).form == ValueForm::number) {
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

}  // namespace smd
