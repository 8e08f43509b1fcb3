// SPDX-License-Identifier: Apache-2.0
#include "framework/step_context.hpp"

#include "framework/common.hpp"
#include "framework/rule_run.hpp"
#include "text/words.hpp"

#include <smd/error.hpp>

#include <algorithm>
#include <cmath>

namespace smd {

namespace detail::rules {

void place_at(Finding& finding, const SnapshotStep& step) {
  finding.step = step.step;
  finding.mode = step.mode;
  finding.mode_step = step.mode_step;
}

StepContext::StepContext(RuleRun& in_run, Window& in_window, const SnapshotStep& in_step, bool in_first,
                         std::vector<SavedRow> in_rows)
    : run(in_run), window(in_window), step(in_step), first(in_first), rows(std::move(in_rows)) {}

std::span<const Unit> StepContext::units(SelectionId selection) {
  const auto known = std::ranges::find(units_, selection, [](const auto& of) { return of.first; });
  if (known != units_.end()) {
    return known->second;
  }
  // Spans of inner vectors remain valid when the outer one grows.
  units_.emplace_back(selection, run.base().units(rows, run.selected(selection)));
  return units_.back().second;
}

std::vector<Unit> StepContext::units_of(std::string_view tensor) const { return run.base().units(rows, tensor); }

bool StepContext::selected(SelectionId selection, const Unit& unit) const {
  return run.selected(selection)[unit.tensor_];
}

std::span<const Unit> StepContext::series(const Unit& unit, Stretch stretch) {
  looked_back = true;
  const EvaluatedTrial& trial = *unit.trial_;
  const std::uint32_t worker = unit.row_.worker();
  const std::vector<Unit>& all =
      trial.series(unit.tensor_, worker, stretch == Stretch::all_modes ? std::nullopt : std::optional(unit.mode()));
  const auto restart =
      stretch == Stretch::since_restart ? trial.last_restart(worker, unit.mode(), unit.step()) : std::nullopt;
  return {restart ? std::ranges::lower_bound(all, *restart, {}, &Unit::step) : all.begin(),
          std::ranges::upper_bound(all, unit.step(), {}, &Unit::step)};
}

std::optional<std::uint32_t> StepContext::value_position(const Unit& unit) {
  const auto items = unit.trial_->snapshot().items(unit.row_, unit.tensor_);
  return items.empty() || !items.front().is_value() ? std::nullopt : std::optional(items.front().position);
}

std::optional<std::uint32_t> StepContext::saved_position(const Unit& unit, std::string_view reduction) {
  const TrialSnapshot& snapshot = unit.trial_->snapshot();
  const std::span<const SavedItem> items = snapshot.items(unit.row_, unit.tensor_);
  const auto saved = std::ranges::find_if(items, [&](const SavedItem& item) {
    return !item.is_value() && snapshot.reduction(item.reduction) == reduction;
  });
  return saved == items.end() ? std::nullopt : std::optional(saved->position);
}

std::optional<std::uint64_t> StepContext::saved_count(const Unit& unit) noexcept {
  const Shape* const shape = unit.trial_->snapshot().saved_shape(unit.row_, unit.tensor_);
  return shape == nullptr ? std::nullopt : element_count(*shape);
}

std::string StepContext::meaning_of(const Unit& unit) {
  const Place place = unit.trial_->snapshot().place(unit.row_, value_position(unit).value(), nullptr);
  return place.type ? place.type->meaning : std::string();
}

std::optional<std::string> StepContext::saved_as(const Unit& unit, const Reduction& reduction) {
  if (unit.trial_->snapshot().reductions() == 0) {
    return std::nullopt;  // no reduction of any tensor was saved: the name is not needed
  }
  std::string name = to_string(reduction);
  return unit.has_reduction(name) ? std::optional(std::move(name)) : std::nullopt;
}

void StepContext::lacks(const Unit& unit) {
  if (unit.trial_ == &run.base()) {
    lacking.push_back(unit.tensor_);
  }
}

void StepContext::want(const Unit& unit, std::optional<std::uint32_t> position, RecordRequest::Kind kind,
                       const Reduction& reduction, bool keep) {
  if (!position) {
    return lacks(unit);
  }
  const std::uint32_t slot = window.slot(*unit.trial_, unit.row_, *position);
  switch (kind) {
    case RecordRequest::Kind::value:
    case RecordRequest::Kind::stored:
      window.want_value(slot, keep);
      break;
    case RecordRequest::Kind::saved:
    case RecordRequest::Kind::aside:
      window[slot].number_wanted = true;
      window[slot].of_nothing = saved_count(unit) == 0;
      break;
    case RecordRequest::Kind::computed:
      window.want_reduction(slot, reduction);
      break;
    case RecordRequest::Kind::wall_time:
      break;
  }
  asks.push_back({slot, unit.tensor_, kind, reduction});
}

const TensorValue* StepContext::value(const Unit& unit, RecordRequest::Kind kind) {
  const Slot* const slot = asked_of_value(unit, kind);
  return slot != nullptr && slot->have_value ? &slot->value : nullptr;
}

const Slot* StepContext::asked(const Unit& unit, std::optional<std::uint32_t> position, RecordRequest::Kind kind,
                               const Reduction& reduction) {
  for (std::size_t tried = 0; position && tried < asks.size(); ++tried) {
    const RecordRequest& next = asks[cursor_];
    const Slot& slot = next_slot();
    advance();
    if (slot.row == unit.row_ && slot.trial == unit.trial_ && slot.position == *position && next.kind == kind &&
        next.reduction == reduction) {
      return serves(slot.held, kind) ? &slot : nullptr;
    }
  }
  return nullptr;
}

const Slot* StepContext::asked_of_value(const Unit& unit, RecordRequest::Kind kind, const Reduction& reduction) {
  if (!asks.empty()) {  // usually it is the next request, which needs no search
    const RecordRequest& next = asks[cursor_];
    const Slot& slot = next_slot();
    if (next.tensor == unit.tensor_ && slot.row == unit.row_ && slot.trial == unit.trial_ && next.kind == kind &&
        next.reduction == reduction) {
      advance();
      return serves(slot.held, kind) ? &slot : nullptr;
    }
  }
  return asked(unit, value_position(unit), kind, reduction);
}

}  // namespace detail::rules

namespace {

using detail::rules::EvaluatedTrial;
using detail::rules::place_at;
using detail::rules::RecordRequest;
using detail::rules::Slot;
using text::counted;

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

/// @throws InvalidArgument if the rule was added with fewer trials.
const EvaluatedTrial& other_trial(const detail::rules::StepContext& context, std::size_t other) {
  const std::vector<const EvaluatedTrial*>& others = context.run.others();
  if (other >= others.size()) {
    throw InvalidArgument("the rule needs " + counted(other + 1, "other trial") + ", but was added with " +
                          std::to_string(others.size()));
  }
  return *others[other];
}

}  // namespace

GlobalStep StepTensors::step() const noexcept { return context_->step.step; }
Mode StepTensors::mode() const noexcept { return context_->step.mode; }
ModeStep StepTensors::mode_step() const noexcept { return context_->step.mode_step; }
bool StepTensors::first() const noexcept { return context_->first; }
bool StepTensors::live() const noexcept { return context_->run.options().follow; }
std::span<const Unit> StepTensors::units(SelectionId selection) const { return context_->units(selection); }
std::optional<Unit> StepTensors::unit(std::string_view tensor, std::string_view worker) const {
  const std::vector<Unit> units = context_->units_of(tensor);
  const auto found = std::ranges::find(units, worker, &Unit::worker);
  return found == units.end() ? std::nullopt : std::optional(*found);
}
bool StepTensors::selected(SelectionId selection, const Unit& unit) const {
  return context_->selected(selection, unit);
}
std::vector<std::string_view> StepTensors::workers() const { return workers_of(context_->run.base(), context_->rows); }
std::span<const Unit> StepTensors::series(const Unit& unit) const {
  return context_->series(unit, detail::rules::StepContext::Stretch::mode);
}
std::span<const Unit> StepTensors::series_since_restart(const Unit& unit) const {
  return context_->series(unit, detail::rules::StepContext::Stretch::since_restart);
}
std::span<const Unit> StepTensors::series_of_all_modes(const Unit& unit) const {
  return context_->series(unit, detail::rules::StepContext::Stretch::all_modes);
}
bool StepTensors::other_has_step(std::size_t other) const {
  const std::optional<SnapshotStep> there = other_trial(*context_, other).snapshot().find_step(step());
  return there && there->complete && there->mode == mode();
}
std::vector<Unit> StepTensors::other_units(std::string_view tensor, std::size_t other) const {
  const EvaluatedTrial& trial = other_trial(*context_, other);
  return trial.units(trial.rows(step()), tensor);
}
std::vector<std::string_view> StepTensors::other_workers(std::size_t other) const {
  const EvaluatedTrial& trial = other_trial(*context_, other);
  return workers_of(trial, trial.rows(step()));
}

void StepNeeds::value(const Unit& unit, Keep keep) {
  context_->want(unit, context_->value_position(unit), RecordRequest::Kind::value, {}, keep == Keep::for_later_steps);
}
void StepNeeds::computed(const Unit& unit, const Reduction& reduction) {
  context_->want(unit, context_->value_position(unit), RecordRequest::Kind::computed, reduction);
}
void StepNeeds::saved(const Unit& unit, std::string_view reduction) {
  context_->want(unit, context_->saved_position(unit, reduction), RecordRequest::Kind::saved);
}
void StepNeeds::measure(const Unit& unit, const Reduction& reduction) {
  if (const std::optional<std::string> name = context_->saved_as(unit, reduction)) {
    saved(unit, *name);
  } else {
    computed(unit, reduction);
  }
}
void StepNeeds::wall_time(std::optional<SelectionId> of) {
  const EvaluatedTrial& trial = context_->run.base();
  for (const SavedRow row : context_->rows) {
    for (const SavedItem& item : trial.snapshot().items(row)) {
      if (!of || context_->run.selected(*of)[item.tensor]) {
        context_->asks.push_back(
            {context_->window.slot(trial, row, item.position), item.tensor, RecordRequest::Kind::wall_time, {}});
      }
    }
  }
}

const TensorValue* StepView::value(const Unit& unit) const { return context_->value(unit, RecordRequest::Kind::value); }
std::optional<double> StepView::computed(const Unit& unit, const Reduction& reduction) const {
  const Slot* const slot = context_->asked_of_value(unit, RecordRequest::Kind::computed, reduction);
  return slot == nullptr ? std::nullopt : context_->window.number(*slot, reduction);
}
std::optional<double> StepView::saved(const Unit& unit, std::string_view reduction) const {
  const Slot* const slot = context_->asked(unit, context_->saved_position(unit, reduction), RecordRequest::Kind::saved);
  return slot != nullptr && slot->have_value ? std::optional(slot->number) : std::nullopt;
}
std::optional<double> StepView::measure(const Unit& unit, const Reduction& reduction) const {
  const std::optional<std::string> name = context_->saved_as(unit, reduction);
  return name ? saved(unit, *name) : computed(unit, reduction);
}
std::optional<double> StepView::wall_time() const {
  std::optional<double> latest;
  for (const RecordRequest& ask : context_->asks) {
    const Slot& slot = context_->window[ask.slot];
    if (ask.kind == RecordRequest::Kind::wall_time && slot.timed && !std::isnan(slot.wall_time)) {
      latest = std::max(latest, std::optional(slot.wall_time));
    }
  }
  return latest;
}
const std::optional<WaitOptions>& StepView::wait() const noexcept { return context_->run.options().wait; }
void StepView::evaluated() { context_->evaluated = true; }
void StepView::trigger(const Unit& unit, std::string_view check, double value, std::string_view relation,
                       double threshold) {
  trigger(detail::rules::finding_of(unit, check, value, relation, threshold));
}
void StepView::trigger(Finding finding) {
  evaluated();
  if (!finding.step) {
    place_at(finding, context_->step);
  }
  context_->findings.push_back(std::move(finding));
}
void StepView::done() { context_->done = true; }
void StepView::warn(std::string text) { context_->run.warn(std::move(text)); }

}  // namespace smd
