// SPDX-License-Identifier: Apache-2.0
#include "framework/evaluated_trial.hpp"

#include "framework/step_context.hpp"
#include "text/mapped.hpp"

#include <smd/trial.hpp>

#include <algorithm>
#include <array>
#include <span>
#include <unordered_set>

namespace smd {

std::string_view Unit::tensor() const noexcept { return trial_->snapshot().tensor(tensor_); }
std::string_view Unit::worker() const noexcept { return trial_->snapshot().worker(row_.worker()); }
GlobalStep Unit::step() const noexcept { return row_.step(); }
Mode Unit::mode() const noexcept { return row_.mode(); }
ModeStep Unit::mode_step() const noexcept { return row_.mode_step(); }

bool Unit::has_value() const noexcept { return detail::rules::StepContext::value_position(*this).has_value(); }

std::uint64_t Unit::record_bytes() const noexcept {
  const std::optional<std::uint32_t> position = detail::rules::StepContext::value_position(*this);
  return position ? trial_->snapshot().bytes(row_, *position) : 0;
}

bool Unit::has_reduction(std::string_view name) const noexcept {
  return detail::rules::StepContext::saved_position(*this, name).has_value();
}

std::vector<std::string_view> Unit::reductions() const {
  const TrialSnapshot& snapshot = trial_->snapshot();
  std::vector<std::string_view> names;
  for (const SavedItem& item : snapshot.items(row_, tensor_)) {
    if (!item.is_value() && snapshot.reduction(item.reduction) != detail::rules::saved_histogram) {
      names.push_back(snapshot.reduction(item.reduction));
    }
  }
  std::ranges::sort(names);
  return names;
}

namespace detail::rules {

EvaluatedTrial::EvaluatedTrial(const Trial& trial, std::size_t number, std::vector<std::string> workers)
    : trial_(&trial), number_(number), workers_(std::move(workers)), snapshot_(TrialSnapshot::take(trial)) {}

void EvaluatedTrial::freeze(TrialSnapshot latest) {
  if (latest == snapshot_) {
    return;
  }
  const bool replaced = latest.generation() != snapshot_.generation();
  if (replaced) {
    mode_steps_.clear();
    taken_.reset();
    run_lengths_.clear();
  }
  if (replaced || latest.saved() != snapshot_.saved() || latest.collections() != snapshot_.collections()) {
    ++names_;
    sides_.reset();
  }
  // A look costs what is new: units whose rows both snapshots have stay.
  const std::optional<GlobalStep> same = snapshot_.same_up_to(latest);
  for (auto& [key, series] : series_) {
    series.known = std::min(series.known, same);
    const auto step_of = [](const Unit& unit) { return std::optional(unit.step()); };
    series.units.erase(std::ranges::upper_bound(series.units, series.known, {}, step_of), series.units.end());
  }
  snapshot_ = std::move(latest);
  match_steps_ = limits::pattern_question_steps;
}

TensorSet EvaluatedTrial::resolve(const TensorSelection& selection) const {
  if (selection.names.empty() && selection.regex.empty() && selection.collections.empty() &&
      !(selection.all && trial_->layout().has_system)) {  // else the query leaves out the machine's metrics
    return TensorSet(snapshot_.tensors(), selection.all);
  }
  const std::lock_guard lock(mutex_);
  return snapshot_.select({.names = selection.names, .regex = selection.regex, .collections = selection.collections},
                          &match_steps_);
}

bool EvaluatedTrial::has_worker(std::uint32_t worker) const noexcept {
  return workers_.empty() || contains(workers_, snapshot_.worker(worker));
}

std::vector<SavedRow> EvaluatedTrial::rows(GlobalStep step) const {
  std::vector<SavedRow> rows = snapshot_.rows(step);
  if (!workers_.empty()) {
    std::erase_if(rows, [&](SavedRow row) { return !has_worker(row.worker()); });
  }
  return rows;
}

std::vector<Unit> EvaluatedTrial::units(const std::vector<SavedRow>& rows, const TensorSet& selected) const {
  std::vector<Unit> units;
  for (const SavedRow row : rows) {
    std::optional<std::uint32_t> last;
    for (const SavedItem& item : snapshot_.items(row)) {
      if (item.tensor != last && selected[item.tensor]) {
        last = item.tensor;
        units.push_back(Unit(*this, row, item.tensor));
      }
    }
  }
  const std::span<const std::uint32_t> rank = snapshot_.tensor_ranks();
  std::ranges::stable_sort(units, [&](const Unit& a, const Unit& b) { return rank[a.tensor_] < rank[b.tensor_]; });
  // Of several rows of one worker, the last one that has the tensor counts.
  const auto first = std::unique(units.rbegin(), units.rend(), [](const Unit& a, const Unit& b) {
    return a.tensor_ == b.tensor_ && a.row_.worker() == b.row_.worker();
  });
  units.erase(units.begin(), first.base());
  return units;
}

std::vector<Unit> EvaluatedTrial::units(const std::vector<SavedRow>& rows, std::string_view tensor) const {
  const std::optional<std::uint32_t> id = snapshot_.find_tensor(tensor);
  std::vector<Unit> units;
  for (const SavedRow row : rows) {
    if (!id || snapshot_.items(row, *id).empty()) {
      continue;
    }
    if (!units.empty() && units.back().row_.worker() == row.worker()) {
      units.pop_back();
    }
    units.push_back(Unit(*this, row, *id));
  }
  return units;
}

const std::vector<Unit>& EvaluatedTrial::series(std::uint32_t tensor, std::uint32_t worker,
                                                std::optional<Mode> mode) const {
  const std::lock_guard lock(mutex_);
  constexpr GlobalStep everything(INT64_MAX);
  auto& [units, known] = series_[{tensor, worker, mode}];
  if (known != everything) {
    for (const SavedRow row : snapshot_.series(tensor, worker, mode, std::exchange(known, everything))) {
      units.push_back(Unit(*this, row, tensor));
    }
  }
  return units;
}

std::optional<GlobalStep> EvaluatedTrial::last_restart(std::uint32_t worker, Mode mode, GlobalStep step) const {
  if (!trial_->layout().has_modes) {
    return std::nullopt;
  }
  const std::lock_guard lock(mutex_);
  add_mode_steps();
  const auto steps = mode_steps_.find({worker, mode});
  if (steps == mode_steps_.end()) {
    return std::nullopt;
  }
  const std::vector<GlobalStep>& restarts = steps->second.restarts;
  const auto after = std::ranges::upper_bound(restarts, step);
  return after == restarts.begin() ? std::nullopt : std::optional(*std::prev(after));
}

/// Rows of all tensors count: one of them may not have been saved where its worker's mode steps began again.
void EvaluatedTrial::add_mode_steps() const {
  // Incomplete steps, of which a dead worker may leave many, are not listed again by each call.
  for (const SnapshotStep& step : snapshot_.steps(taken_, snapshot_.same_up_to(snapshot_))) {
    if (!step.complete) {
      break;
    }
    taken_ = step.step;
    for (const SavedRow row : snapshot_.rows(step.step)) {
      ModeSteps& steps = mode_steps_.try_emplace({row.worker(), row.mode()}, ModeSteps{row.mode_step()}).first->second;
      if (std::exchange(steps.last, row.mode_step()) > row.mode_step()) {
        steps.restarts.push_back(step.step);
      }
    }
  }
}

bool EvaluatedTrial::several_workers() const {
  const NoRefresh no_refresh(std::array{trial_}, true);
  const std::lock_guard lock(mutex_);
  add_mode_steps();
  // The map is sorted by worker: the first and last keys have the same one if there is only one.
  const bool one_wrote = mode_steps_.empty() || mode_steps_.begin()->first.first == mode_steps_.rbegin()->first.first;
  return !one_wrote || trial_->workers().size() > 1 || trial_->num_workers() > 1;
}

std::shared_ptr<const Sides> EvaluatedTrial::sides() const {
  const std::lock_guard lock(mutex_);
  if (!sides_) {
    sides_ = std::make_shared<const Sides>(scalar_names());
  }
  return sides_;
}

/// A run is the folder of the files that hold its tensors, whose names begin with it.
std::vector<ScalarName> EvaluatedTrial::scalar_names() const {
  const TensorSet wanted = snapshot_.select({.collections = {"losses", "scalars"}});
  std::size_t unknown = 0;
  for (std::uint32_t id = 0; id < wanted.size(); ++id) {
    unknown += wanted[id] && !run_lengths_.contains(id) ? 1 : 0;
  }
  std::unordered_set<const SavedItem*> seen;  // most steps save the same tensors
  const std::vector<SnapshotStep> steps = snapshot_.steps();
  for (auto step = steps.rbegin(); step != steps.rend() && unknown > 0; ++step) {  // new names are in new steps
    for (const SavedRow row : snapshot_.rows(step->step)) {
      const std::span<const SavedItem> items = snapshot_.items(row);
      if (!seen.insert(items.data()).second) {
        continue;
      }
      const std::string file = *snapshot_.file(row);
      const std::string_view folder = std::string_view(file).substr(0, file.rfind('/') + 1);  // empty without a slash
      for (const SavedItem& item : items) {
        const bool of_run = !folder.empty() && snapshot_.tensor(item.tensor).starts_with(folder);
        if (wanted[item.tensor] && run_lengths_.emplace(item.tensor, of_run ? folder.size() - 1 : 0).second) {
          --unknown;
        }
      }
    }
  }
  std::vector<ScalarName> names;
  for (std::uint32_t id = 0; id < wanted.size(); ++id) {
    if (wanted[id]) {
      const auto run = run_lengths_.find(id);
      names.push_back({std::string(snapshot_.tensor(id)), run == run_lengths_.end() ? 0 : run->second});
    }
  }
  return names;
}

}  // namespace detail::rules

}  // namespace smd
