// SPDX-License-Identifier: Apache-2.0
#include "built_in/losses.hpp"

#include "framework/rule_run.hpp"
#include "text/escape.hpp"

#include <smd/reduction.hpp>
#include <smd/trial.hpp>

#include <fmt/format.h>

namespace smd::detail::rules {

namespace {

constexpr Reduction loss_mean{.kind = ReductionKind::mean};
constexpr Reduction loss_count{.kind = ReductionKind::count};

/// Returns whether a unit's record is short enough to hold one number: longer records are not read only to count their
/// elements. The record contains the tensor's name, to which the trial may have added something.
bool may_hold_one_number(const Unit& unit) {
  constexpr std::uint64_t all_but_name = 4096;
  const std::uint64_t bytes = unit.record_bytes();
  return bytes > 0 && bytes <= all_but_name + 2 * unit.tensor().size();
}

}  // namespace

bool knows_losses(const Trial& trial) {
  if (!trial.layout().has_modes) {
    return true;
  }
  const std::optional<Collection> losses = trial.collection("losses");
  return losses && !(losses->tensor_names.empty() && losses->include_regex.empty());
}

bool Losses::by_collection(const StepTensors& step, const Unit& unit) const {
  return collections_ && step.selected(*collections_, unit);
}

bool Losses::possible(const StepTensors& step, const Unit& unit) const {
  return by_collection(step, unit) ? unit.has_value() || unit.has_reduction("mean") : may_hold_one_number(unit);
}

std::vector<Unit> Losses::units(const StepTensors& step) const {
  std::vector<Unit> units;
  const auto add = [&](const std::optional<SelectionId>& selection, bool collections) {
    for (const Unit& unit : selection ? step.units(*selection) : std::span<const Unit>()) {
      if (by_collection(step, unit) == collections && possible(step, unit)) {
        units.push_back(unit);
      } else if (collections) {
        RuleAccess::context(step).lacks(unit);
      }
    }
  };
  add(collections_, true);
  add(others_, false);
  return units;
}

void Losses::need(StepNeeds& step, const Unit& unit) const {
  if (by_collection(step, unit)) {
    step.measure(unit, loss_mean);
  } else {
    step.computed(unit, loss_count);
    step.computed(unit, loss_mean);
  }
}

std::optional<double> Losses::loss(const StepView& step, const Unit& unit) const {
  if (by_collection(step, unit)) {
    return step.measure(unit, loss_mean);
  }
  const std::optional<double> number = step.computed(unit, loss_count);
  return number == 1.0 ? step.computed(unit, loss_mean) : std::nullopt;
}

std::optional<double> Losses::look_up(StepView& step, const Unit& unit) const {
  ReductionSets sets;
  KeptValues kept;
  Window window(sets, kept);
  StepContext& context = RuleAccess::context(step);
  StepContext late(context.run, window, context.step, context.first, context.rows);
  StepNeeds needs(late);
  need(needs, unit);
  ReadCounters counters;
  window.read(1, counters);
  context.run.note_requests(late);
  return loss(StepView(late), unit);
}

void Losses::need_all(StepNeeds& step) const {
  for (const Unit& unit : units(step)) {
    need(step, unit);
  }
}

std::map<std::string, double> Losses::pooled(const StepView& step) const {
  std::map<std::string, Mean> of_workers;
  for (const Unit& unit : units(step)) {
    if (const std::optional<double> one = loss(step, unit)) {
      of_workers[std::string(unit.tensor())].add(*one);
    }
  }
  std::map<std::string, double> means;
  for (const auto& [tensor, mean] : of_workers) {
    means.emplace(tensor, *mean.value());
  }
  return means;
}

void ZeroLosses::see(StepView& step, const Unit& unit, double loss) {
  const RuleRun& run = RuleAccess::context(step).run;
  if (run.base().trial().layout().has_modes) {
    return;
  }
  Seen& seen = seen_[{std::string(unit.tensor()), std::string(unit.worker())}];
  seen.positive = seen.positive || loss > 0;
  if (loss != 0 || !seen.positive || seen.warned) {
    return;
  }
  seen.warned = true;
  step.warn(
      fmt::format("{} is exactly 0 at step {}, after positive losses: the Hugging Face Trainer logs 0 where the loss "
                  "is NaN or infinite (logging_nan_inf_filter)",
                  printable(run.shown(std::string(unit.worker()), std::string(unit.tensor()))), unit.step().value));
}

}  // namespace smd::detail::rules
