// SPDX-License-Identifier: Apache-2.0
#include "framework/step_context.hpp"

#include "framework/rule_run.hpp"

#include <algorithm>
#include <utility>

namespace smd::detail::rules {

using trial::Item;
using trial::no_id;

StepContext::StepContext(RuleRun& run, Window& window, const trial::Step& step, bool first)
    : run_(&run), window_(&window), step_(step), first_(first), rows_(run.base().rows(step)) {}

bool StepContext::live() const noexcept { return run_->options().follow; }

std::span<const Unit> StepContext::units(SelectionId selection) {
  for (const auto& [id, units] : units_) {
    if (id == selection) {
      return units;
    }
  }
  // Inner vectors keep their elements' places when the outer one grows.
  units_.emplace_back(selection, run_->base().units(rows_, run_->selected(selection)));
  return units_.back().second;
}

std::optional<Unit> StepContext::unit(std::string_view tensor, std::string_view worker) const {
  const std::uint32_t id = run_->base().snapshot().catalog.tensors().find(tensor);
  if (id != no_id) {
    for (const Unit& unit : run_->base().units(rows_, id)) {
      if (unit.worker() == worker) {
        return unit;
      }
    }
  }
  return std::nullopt;
}

bool StepContext::selected(SelectionId selection, const Unit& unit) const {
  return run_->selected(selection)[unit.tensor_];
}

namespace {

std::vector<std::string_view> workers_of(const TrialView& view, const std::vector<const StepRow*>& rows) {
  std::vector<std::string_view> workers;
  for (const StepRow* const row : rows) {
    if (workers.empty() || workers.back() != view.snapshot().worker(*row)) {
      workers.push_back(view.snapshot().worker(*row));
    }
  }
  return workers;
}

}  // namespace

std::vector<std::string_view> StepContext::workers() const { return workers_of(run_->base(), rows_); }

std::span<const Unit> StepContext::series(const Unit& unit, bool all_modes) const {
  run_->note_look_back();
  const std::vector<Unit>& all = unit.view_->series(unit.tensor_, unit.row_->file.worker,
                                                    all_modes ? std::nullopt : std::optional(unit.row_->mode));
  const auto end = std::upper_bound(all.begin(), all.end(), unit.step(),
                                    [](GlobalStep step, const Unit& other) { return step < other.step(); });
  return std::span(all).first(static_cast<std::size_t>(end - all.begin()));
}

bool StepContext::other_has_step(std::size_t other) const {
  const Snapshot& snapshot = run_->others().at(other)->snapshot();
  const trial::Step* const step = snapshot.find(step_.number);
  return step != nullptr && snapshot.complete(step_.number) && step->mode == step_.mode;
}

std::vector<Unit> StepContext::other_units(std::string_view tensor, std::size_t other) const {
  const TrialView& view = *run_->others().at(other);
  const trial::Step* const step = view.snapshot().find(step_.number);
  const std::uint32_t id = view.snapshot().catalog.tensors().find(tensor);
  return step == nullptr || id == no_id ? std::vector<Unit>() : view.units(view.rows(*step), id);
}

std::vector<std::string_view> StepContext::other_workers(std::size_t other) const {
  const TrialView& view = *run_->others().at(other);
  const trial::Step* const step = view.snapshot().find(step_.number);
  return step == nullptr ? std::vector<std::string_view>() : workers_of(view, view.rows(*step));
}

std::optional<std::uint32_t> StepContext::value_position(const Unit& unit) {
  const auto items = unit.view_->snapshot().catalog.items(*unit.row_).of(unit.tensor_);
  return items.empty() || items.front().reduction != no_id ? std::nullopt : std::optional(items.front().position);
}

std::optional<std::uint32_t> StepContext::saved_position(const Unit& unit, std::string_view name) {
  const auto& catalog = unit.view_->snapshot().catalog;
  for (const Item& item : catalog.items(*unit.row_).of(unit.tensor_)) {
    if (item.reduction != no_id && catalog.reductions()[item.reduction] == name) {
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
    const std::uint32_t slot = window_->slot(*unit.view_, *unit.row_, *position);
    window_->want_value(slot, keep);
    add(unit, slot, Ask::Kind::value);
  }
}

void StepContext::want_computed(const Unit& unit, const Reduction& reduction) {
  if (const auto position = value_position(unit)) {
    const std::uint32_t slot = window_->slot(*unit.view_, *unit.row_, *position);
    window_->want_reduction(slot, reduction);
    add(unit, slot, Ask::Kind::computed, reduction);
  }
}

void StepContext::want_saved(const Unit& unit, std::string_view name) {
  if (const auto position = saved_position(unit, name)) {
    const std::uint32_t slot = window_->slot(*unit.view_, *unit.row_, *position);
    (*window_)[slot].number_wanted = true;
    add(unit, slot, Ask::Kind::saved);
  }
}

void StepContext::want_wall_time() {
  const TrialView& view = run_->base();
  for (const StepRow* const row : rows_) {
    for (const Item& item : view.snapshot().catalog.items(*row).items) {
      asks_.push_back({window_->slot(view, *row, item.position), item.tensor, Ask::Kind::wall_time, {}});
    }
  }
}

std::optional<std::string> StepContext::saved_as(const Unit& unit, const Reduction& reduction) {
  if (unit.view_->snapshot().catalog.reductions().size() == 0) {
    return std::nullopt;  // none of any: no name need be made
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
    if (slot.row == unit.row_ && slot.view == unit.view_ && slot.position == *position && next.kind == ask.kind &&
        next.reduction == ask.reduction) {
      return slot.usable ? &slot : nullptr;
    }
  }
  return nullptr;
}

const Slot* StepContext::asked_of_value(const Unit& unit, Ask ask) {
  if (!asks_.empty()) {  // mostly it is the next one; then nothing need be searched for
    const Ask& next = asks_[cursor_];
    const Slot& slot = std::as_const(*window_)[next.slot];
    if (next.tensor == unit.tensor_ && slot.row == unit.row_ && slot.view == unit.view_ && next.kind == ask.kind &&
        next.reduction == ask.reduction) {
      cursor_ = cursor_ + 1 == asks_.size() ? 0 : cursor_ + 1;
      return slot.usable ? &slot : nullptr;
    }
  }
  return asked(unit, value_position(unit), ask);
}

const TensorValue* StepContext::value(const Unit& unit) {
  const Slot* const slot = asked_of_value(unit, {0, 0, Ask::Kind::value, {}});
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

void StepContext::fire(Finding finding) {
  judged = true;
  if (!finding.step) {
    finding.step = GlobalStep(step_.number);
    finding.mode = step_.mode;
    finding.mode_step = ModeStep(step_.mode_step);
  }
  findings.push_back(std::move(finding));
}

}  // namespace smd::detail::rules
