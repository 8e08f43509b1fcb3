// SPDX-License-Identifier: Apache-2.0
#include "framework/step_context.hpp"

#include "framework/rule_run.hpp"

#include <algorithm>
#include <utility>

namespace smd::detail::rules {

StepContext::StepContext(RuleRun& run, Window& window, const SnapshotStep& step, bool first)
    : run_(&run), window_(&window), step_(step), first_(first), rows_(run.base().rows(step)) {}

bool StepContext::live() const noexcept { return run_->options().follow; }

std::span<const Unit> StepContext::units(SelectionId selection) {
  for (const auto& [id, units] : units_) {
    if (id == selection) {
      return units;
    }
  }
  // Spans of inner vectors remain valid when the outer one grows.
  units_.emplace_back(selection, run_->base().units(rows_, run_->selected(selection)));
  return units_.back().second;
}

std::vector<Unit> StepContext::units_of(std::string_view tensor) const {
  const std::optional<std::uint32_t> id = run_->base().snapshot().find_tensor(tensor);
  return id ? run_->base().units(rows_, *id) : std::vector<Unit>();
}

std::optional<Unit> StepContext::unit(std::string_view tensor, std::string_view worker) const {
  for (const Unit& unit : units_of(tensor)) {
    if (unit.worker() == worker) {
      return unit;
    }
  }
  return std::nullopt;
}

bool StepContext::selected(SelectionId selection, const Unit& unit) const {
  return run_->selected(selection)[unit.tensor_];
}

namespace {

std::vector<std::string_view> workers_of(const EvaluatedTrial& trial, const std::vector<SavedRow>& rows) {
  std::vector<std::string_view> workers;
  for (const SavedRow row : rows) {
    const std::string_view worker = trial.snapshot().worker(row.worker());
    if (workers.empty() || workers.back() != worker) {
      workers.push_back(worker);
    }
  }
  return workers;
}

}  // namespace

std::vector<std::string_view> StepContext::workers() const { return workers_of(run_->base(), rows_); }

std::span<const Unit> StepContext::series(const Unit& unit, bool all_modes) const {
  run_->note_look_back();
  const std::vector<Unit>& all =
      unit.trial_->series(unit.tensor_, unit.row_.worker(), all_modes ? std::nullopt : std::optional(unit.mode()));
  const auto end = std::upper_bound(all.begin(), all.end(), unit.step(),
                                    [](GlobalStep step, const Unit& other) { return step < other.step(); });
  return std::span(all).first(static_cast<std::size_t>(end - all.begin()));
}

bool StepContext::other_has_step(std::size_t other) const {
  const std::optional<SnapshotStep> step = run_->others().at(other)->snapshot().find_step(step_.step());
  return step && step->complete() && step->mode() == step_.mode();
}

std::vector<Unit> StepContext::other_units(std::string_view tensor, std::size_t other) const {
  const EvaluatedTrial& trial = *run_->others().at(other);
  const std::optional<SnapshotStep> step = trial.snapshot().find_step(step_.step());
  const std::optional<std::uint32_t> id = trial.snapshot().find_tensor(tensor);
  return step && id ? trial.units(trial.rows(*step), *id) : std::vector<Unit>();
}

std::vector<std::string_view> StepContext::other_workers(std::size_t other) const {
  const EvaluatedTrial& trial = *run_->others().at(other);
  const std::optional<SnapshotStep> step = trial.snapshot().find_step(step_.step());
  return step ? workers_of(trial, trial.rows(*step)) : std::vector<std::string_view>();
}

std::optional<std::uint32_t> StepContext::value_position(const Unit& unit) {
  const auto items = unit.trial_->snapshot().items(unit.row_, unit.tensor_);
  return items.empty() || !items.front().is_value() ? std::nullopt : std::optional(items.front().position);
}

std::optional<std::uint32_t> StepContext::saved_position(const Unit& unit, std::string_view name) {
  const TrialSnapshot& snapshot = unit.trial_->snapshot();
  for (const SavedItem& item : snapshot.items(unit.row_, unit.tensor_)) {
    if (!item.is_value() && snapshot.reduction(item.reduction) == name) {
      return item.position;
    }
  }
  return std::nullopt;
}

void StepContext::add(const Unit& unit, std::uint32_t slot, Ask::Kind kind, const Reduction& reduction) {
  asks_.push_back({slot, unit.tensor_, kind, reduction});
}

void StepContext::want_value(const Unit& unit, bool keep) {
  if (const auto position = value_position(unit)) {
    const std::uint32_t slot = window_->slot(*unit.trial_, unit.row_, *position);
    window_->want_value(slot, keep);
    add(unit, slot, Ask::Kind::value);
  }
}

void StepContext::want_computed(const Unit& unit, const Reduction& reduction) {
  if (const auto position = value_position(unit)) {
    const std::uint32_t slot = window_->slot(*unit.trial_, unit.row_, *position);
    window_->want_reduction(slot, reduction);
    add(unit, slot, Ask::Kind::computed, reduction);
  }
}

void StepContext::want_saved(const Unit& unit, std::string_view name) {
  if (const auto position = saved_position(unit, name)) {
    const std::uint32_t slot = window_->slot(*unit.trial_, unit.row_, *position);
    (*window_)[slot].number_wanted = true;
    add(unit, slot, Ask::Kind::saved);
  }
}

void StepContext::want_saved_value(const Unit& unit, std::string_view name) {
  if (const auto position = saved_position(unit, name)) {
    const std::uint32_t slot = window_->slot(*unit.trial_, unit.row_, *position);
    window_->want_value(slot, false);
    add(unit, slot, Ask::Kind::value);
  }
}

void StepContext::want_wall_time() {
  const EvaluatedTrial& trial = run_->base();
  for (const SavedRow row : rows_) {
    for (const SavedItem& item : trial.snapshot().items(row)) {
      asks_.push_back({window_->slot(trial, row, item.position), item.tensor, Ask::Kind::wall_time, {}});
    }
  }
}

std::optional<std::string> StepContext::saved_as(const Unit& unit, const Reduction& reduction) {
  if (unit.trial_->snapshot().reductions() == 0) {
    return std::nullopt;  // no reduction of any tensor was saved: the name is not needed
  }
  std::string name = to_string(reduction);
  return unit.has_reduction(name) ? std::optional(std::move(name)) : std::nullopt;
}

const Slot* StepContext::asked(const Unit& unit, std::optional<std::uint32_t> position, Ask ask) {
  if (!position) {
    return nullptr;
  }
  ask.tensor = unit.tensor_;
  for (std::size_t tried = 0; tried < asks_.size(); ++tried) {
    const Ask& next = asks_[cursor_];
    cursor_ = cursor_ + 1 == asks_.size() ? 0 : cursor_ + 1;
    const Slot& slot = std::as_const(*window_)[next.slot];
    if (slot.row == unit.row_ && slot.trial == unit.trial_ && slot.position == *position && next.kind == ask.kind &&
        next.reduction == ask.reduction) {
      return slot.held == Held::numbers ? &slot : nullptr;
    }
  }
  return nullptr;
}

const Slot* StepContext::asked_of_value(const Unit& unit, Ask ask) {
  if (!asks_.empty()) {  // usually it is the next request, which needs no search
    const Ask& next = asks_[cursor_];
    const Slot& slot = std::as_const(*window_)[next.slot];
    if (next.tensor == unit.tensor_ && slot.row == unit.row_ && slot.trial == unit.trial_ && next.kind == ask.kind &&
        next.reduction == ask.reduction) {
      cursor_ = cursor_ + 1 == asks_.size() ? 0 : cursor_ + 1;
      return slot.held == Held::numbers ? &slot : nullptr;
    }
  }
  return asked(unit, value_position(unit), ask);
}

const TensorValue* StepContext::value(const Unit& unit) {
  const Slot* const slot = asked_of_value(unit, {0, 0, Ask::Kind::value, {}});
  return slot != nullptr && slot->have_value ? &slot->value : nullptr;
}

const TensorValue* StepContext::saved_value(const Unit& unit, std::string_view name) {
  const Slot* const slot = asked(unit, saved_position(unit, name), {0, 0, Ask::Kind::value, {}});
  return slot != nullptr && slot->have_value ? &slot->value : nullptr;
}

std::optional<double> StepContext::computed(const Unit& unit, const Reduction& reduction) {
  const Slot* const slot = asked_of_value(unit, {0, 0, Ask::Kind::computed, reduction});
  return slot == nullptr ? std::nullopt : window_->number(*slot, reduction);
}

std::optional<double> StepContext::saved(const Unit& unit, std::string_view name) {
  const Slot* const slot = asked(unit, saved_position(unit, name), {0, 0, Ask::Kind::saved, {}});
  return slot != nullptr && slot->have_value ? std::optional(slot->number) : std::nullopt;
}

std::optional<double> StepContext::wall_time() const {
  std::optional<double> latest;
  for (const Ask& ask : asks_) {
    const Slot& slot = std::as_const(*window_)[ask.slot];
    if (ask.kind == Ask::Kind::wall_time && !slot.problem && (!latest || slot.wall_time > *latest)) {
      latest = slot.wall_time;
    }
  }
  return latest;
}

void StepContext::trigger(Finding finding) {
  evaluated = true;
  if (!finding.step) {
    finding.step = step_.step();
    finding.mode = step_.mode();
    finding.mode_step = step_.mode_step();
  }
  findings.push_back(std::move(finding));
}

}  // namespace smd::detail::rules
