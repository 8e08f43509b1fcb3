// SPDX-License-Identifier: Apache-2.0
#include "trial/snapshot.hpp"

#include <iterator>
#include <tuple>

namespace smd::detail::trial {

namespace {

/// Removes superseded values from rows.
class Superseder {
 public:
  explicit Superseder(std::span<const layout::Supersession> later) {
    for (const layout::Supersession& one : later) {
      if (one.one_step) {
        std::uint64_t& before = by_step_[{one.worker, one.name, one.from_step}];
        before = std::max(before, one.before);
      } else {
        by_series_[{one.worker, one.name}].push_back({one.before, one.from_step});
      }
      tensors_.resize(std::max<std::size_t>(tensors_.size(), one.name + std::size_t{1}));
      tensors_[one.name] = true;
      first_step_ = std::min(first_step_, one.from_step);
    }
    for (auto& [series, events] : by_series_) {
      std::ranges::sort(events, [](const Later& a, const Later& b) { return a.before < b.before; });
      for (std::size_t i = events.size(); i-- > 1;) {
        events[i - 1].from_step = std::min(events[i - 1].from_step, events[i].from_step);
      }
    }
  }

  /// Returns whether rows at that step may have superseded values.
  [[nodiscard]] bool reaches(std::int64_t step) const noexcept { return !tensors_.empty() && step >= first_step_; }

  /// Removes superseded values from `rows`. Returns whether there were any.
  bool apply(Catalog& catalog, std::vector<layout::StepRow>& rows) {
    bool changed = false;
    std::vector<std::uint32_t> stay;
    std::vector<std::uint32_t> go;
    std::erase_if(rows, [&](layout::StepRow& row) {
      if (!reaches(row.file.step)) {
        return false;
      }
      stay.clear();
      go.clear();
      std::uint32_t last = no_id;
      bool last_goes = false;
      for (const Item& item : catalog.items(row).items) {
        if (item.tensor != last) {
          last = item.tensor;
          last_goes = is_superseded(row, last);
          if (last_goes) {
            ++counts[last];
          }
        }
        (last_goes ? go : stay).push_back(item.position);
      }
      if (go.empty()) {
        return false;
      }
      changed = true;
      std::ranges::sort(go);
      superseded.push_back(stay.empty() ? row : catalog.part_of(row, go));
      superseded.back().superseded = true;
      if (stay.empty()) {
        return true;
      }
      std::ranges::sort(stay);
      row = catalog.part_of(row, stay);
      return false;
    });
    return changed;
  }

  /// The removed values: rows with only superseded values, in the order of `rows`; and the number of values, by tensor.
  std::vector<layout::StepRow> superseded;
  std::map<std::uint32_t, std::uint64_t> counts;

 private:
  /// A later value of one worker and tensor. Sorted by arrival.
  struct Later {
    std::uint64_t before = 0;
    std::int64_t from_step = 0;  ///< The least of this value and all later ones.
  };

  [[nodiscard]] bool is_superseded(const layout::StepRow& row, std::uint32_t tensor) const noexcept {
    if (tensor >= tensors_.size() || !tensors_[tensor]) {
      return false;
    }
    const auto same = by_step_.find({row.file.worker, tensor, row.file.step});
    if (same != by_step_.end() && row.file.id < same->second) {
      return true;
    }
    const auto series = by_series_.find({row.file.worker, tensor});
    if (series == by_series_.end()) {
      return false;
    }
    const auto later =
        std::ranges::partition_point(series->second, [&](const Later& event) { return event.before <= row.file.id; });
    return later != series->second.end() && later->from_step <= row.file.step;
  }

  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Later>> by_series_;
  /// Of values that only replace those at their step: `Later::before`, by worker, tensor and step.
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::int64_t>, std::uint64_t> by_step_;
  std::vector<bool> tensors_;  // by id: whether the tensor may have superseded values
  std::int64_t first_step_ = INT64_MAX;
};

}  // namespace

StepChunk::StepChunk(std::vector<Step> steps)
    : size_(steps.size()), last_(steps.back()), made_(true), steps_(std::move(steps)) {}

StepChunk::StepChunk(std::vector<layout::RowSequence> rows)
    : rows_(std::move(rows)),
      size_(count_rows(rows_)),
      last_(step_of(std::make_shared<const layout::StepRow>(rows_.back().nth(rows_.back().count - 1)), 1)),
      made_(false) {}

void StepChunk::make() const {
  const std::lock_guard lock(making_);
  if (made_.load(std::memory_order_relaxed)) {
    return;
  }
  const auto kept = std::make_shared<const std::vector<layout::StepRow>>(rows_of(rows_));
  steps_.reserve(size_);
  for (const layout::StepRow& row : *kept) {
    steps_.push_back(step_of({kept, &row}, 1));
  }
  made_.store(true, std::memory_order_release);
}

void Snapshot::note_path(const layout::StepRow& row, std::shared_ptr<std::vector<layout::StepRow>>& changed) const {
  if (row.event_file == no_id || catalog.payload(row).count == 0) {
    return;
  }
  if (!changed) {
    changed = row_of_path ? std::make_shared<std::vector<layout::StepRow>>(*row_of_path)
                          : std::make_shared<std::vector<layout::StepRow>>();
    changed->resize(catalog.paths().size());
  }
  layout::StepRow& known = (*changed)[row.event_file];
  if (known.payload == no_id || listing->before(row.file, known.file)) {
    known = row;
  }
}

void Snapshot::add(std::vector<layout::RowSequence> added) {
  constexpr std::size_t worth_it = 4;  // rows per sequence: a sequence is larger than a row, and rows may be needed
  const auto stand_apart = [](const layout::RowSequence& a, const layout::RowSequence& b) {
    return a.last_step() < b.row.file.step;
  };
  const auto has_mode = [](const layout::RowSequence& sequence) { return sequence.row.mode != Mode::global; };
  if (count_rows(added) < worth_it * added.size() || added.empty() ||
      (!steps.empty() && added.front().row.file.step <= steps.last().number) || std::ranges::any_of(added, has_mode) ||
      std::ranges::adjacent_find(added, std::not_fn(stand_apart)) != added.end()) {
    return add(layout::rows_of(added));
  }
  constexpr std::size_t enough = 1024;
  std::vector<layout::RowSequence> together;
  std::shared_ptr<std::vector<layout::StepRow>> by_path;
  for (const layout::RowSequence& sequence : added) {
    note_path(sequence.row, by_path);
    together.push_back(sequence);
    if (layout::count_rows(together) >= enough || &sequence == &added.back()) {
      steps.push_back(std::make_shared<const StepChunk>(std::exchange(together, {})));
    }
  }
  if (by_path) {
    row_of_path = std::move(by_path);
  }
}

void Snapshot::add(std::vector<layout::StepRow> added) {
  if (added.empty()) {
    return;
  }
  const auto before = [this](const layout::StepRow& a, const layout::StepRow& b) {
    return listing->before(a.file, b.file);
  };
  if (!std::ranges::is_sorted(added, before)) {
    std::ranges::stable_sort(added, before);
  }
  const auto kept = std::make_shared<const std::vector<layout::StepRow>>(std::move(added));
  const std::vector<layout::StepRow>& rows = *kept;
  const auto merge_steps = [&](const Step& there, const Step& more) {
    auto all = std::make_shared<std::vector<layout::StepRow>>();
    all->reserve(there.rows + std::size_t{more.rows});
    std::merge(there.first_row.get(), there.first_row.get() + there.rows, more.first_row.get(),
               more.first_row.get() + more.rows, std::back_inserter(*all), before);
    const auto count = static_cast<std::uint32_t>(all->size());
    return step_of({all, all->data()}, count);
  };
  constexpr std::size_t at_once = 4096;  // fits the L2 cache
  std::vector<Step> fresh;
  const auto take_fresh = [&] {
    steps.merge(
        std::exchange(fresh, {}), [](const Step& a, const Step& b) { return a.number < b.number; }, merge_steps);
  };
  std::vector<ModeClaim> fresh_claims;
  std::shared_ptr<std::vector<layout::StepRow>> by_path;
  for (std::size_t i = 0; i < rows.size();) {
    std::size_t end = i;
    for (; end < rows.size() && rows[end].file.step == rows[i].file.step; ++end) {
      const layout::StepRow& row = rows[end];
      if (row.mode != Mode::global) {
        fresh_claims.push_back({row.mode, row.mode_step, row.file.step});
      }
      note_path(row, by_path);
    }
    fresh.push_back(step_of({kept, &rows[i]}, static_cast<std::uint32_t>(end - i)));
    if (fresh.size() == at_once) {
      take_fresh();
    }
    i = end;
  }
  take_fresh();
  sort_each_once(fresh_claims);
  claims.merge(std::move(fresh_claims), std::less<>());
  if (by_path) {
    row_of_path = std::move(by_path);
  }
}

void Snapshot::supersede(std::vector<layout::StepRow>& rows, std::span<const layout::Supersession> later,
                         Superseded kept) {
  Superseder superseder(later);
  if (!steps.empty() && superseder.reaches(steps.last().number)) {
    SortedChunks<Step, StepChunk> before = steps;
    std::vector<layout::StepRow> known;
    for (const Step& step :
         before.take_from(before.partition_point([&](const Step& one) { return !superseder.reaches(one.number); }))) {
      const std::span<const layout::StepRow> of_step = rows_of(step);
      known.insert(known.end(), of_step.begin(), of_step.end());
    }
    if (superseder.apply(catalog, known)) {
      steps = std::move(before);
      add(std::move(known));
    }
  }
  superseder.apply(catalog, rows);
  auto all = std::make_shared<Snapshot>();
  all->more_names = more_names = true;
  all->listing = listing;
  all->collections = collections;
  all->catalog = catalog;
  all->counts = std::move(superseder.counts);
  all->several_count = true;
  if (superseded) {
    all->steps = superseded->steps;
    for (const auto& [tensor, count] : superseded->counts) {
      all->counts[tensor] += count;
    }
  }
  if (kept == Superseded::only) {
    rows.clear();
  }
  if (kept != Superseded::left_out) {
    rows.insert(rows.end(), superseder.superseded.begin(), superseder.superseded.end());
  }
  all->add(std::move(superseder.superseded));
  superseded = all->steps.empty() ? nullptr : std::move(all);
}

bool Snapshot::arrived(const layout::StepRow& row, const Arrivals& when) const noexcept {
  if (!listing->named) {
    return row.file.id >= when.first && row.file.id <= when.last;
  }
  bool found = when.first == 0;
  for (std::uint64_t i = when.first; !found && i <= std::min<std::uint64_t>(when.last, arrivals.size()); ++i) {
    found = arrivals[i - 1] == layout::StepPart{row.file.step, row.file.worker, row.payload};
  }
  return found;
}

const Step* Snapshot::find(std::int64_t number) const noexcept {
  const auto it = steps.partition_point([number](const Step& step) { return step.number < number; });
  return it != steps.end() && it->number == number ? &*it : nullptr;
}

std::vector<std::int64_t> Snapshot::global_steps(Mode mode, std::int64_t number) const {
  if (mode == Mode::global) {
    return std::vector<std::int64_t>(find(number) == nullptr ? 0 : 1, number);
  }
  std::vector<std::int64_t> found;
  const ModeClaim least{mode, number, INT64_MIN};
  auto it = claims.partition_point([&](const ModeClaim& claim) { return claim < least; });
  for (; it != claims.end() && it->mode == mode && it->mode_step == number; ++it) {
    found.push_back(it->step);
  }
  return found;
}

StepState Snapshot::state(StepKey key, bool over) const {
  // docs/format.md: t is the smallest known step of the mode that is not below the requested one.
  std::optional<std::int64_t> t;
  std::int64_t global = 0;
  if (key.mode == Mode::global) {
    const auto it = steps.partition_point([&](const Step& step) { return step.number < key.number; });
    if (it != steps.end()) {
      t = global = it->number;
    }
  } else {
    const ModeClaim least{key.mode, key.number, INT64_MIN};
    const auto it = claims.partition_point([&](const ModeClaim& claim) { return claim < least; });
    if (it != claims.end() && it->mode == key.mode) {
      t = it->mode_step;
      global = it->step;
    }
  }
  if (!t) {
    return over ? StepState::unavailable : StepState::not_yet_available;
  }
  if (!complete(global, over)) {
    return StepState::not_yet_available;
  }
  return *t == key.number ? StepState::available : StepState::unavailable;
}

std::optional<std::int64_t> Snapshot::last_step(Mode mode) const {
  if (mode == Mode::global) {
    return steps.empty() ? std::nullopt : std::optional(steps.last().number);
  }
  const ModeClaim most{mode, INT64_MAX, INT64_MAX};
  auto it = claims.partition_point([&](const ModeClaim& claim) { return !(most < claim); });
  return it != claims.begin() && (--it)->mode == mode ? std::optional(it->mode_step) : std::nullopt;
}

}  // namespace smd::detail::trial
