// SPDX-License-Identifier: Apache-2.0
#include <smd/rule.hpp>

#include "framework/common.hpp"
#include "framework/rule_run.hpp"
#include "framework/step_context.hpp"

#include <chrono>
#include <utility>

namespace smd {

GlobalStep StepTensors::step() const noexcept { return context_->step().step(); }
Mode StepTensors::mode() const noexcept { return context_->step().mode(); }
ModeStep StepTensors::mode_step() const noexcept { return context_->step().mode_step(); }
bool StepTensors::first() const noexcept { return context_->first(); }
bool StepTensors::live() const noexcept { return context_->live(); }
std::span<const Unit> StepTensors::units(SelectionId selection) const { return context_->units(selection); }
std::optional<Unit> StepTensors::unit(std::string_view tensor, std::string_view worker) const {
  return context_->unit(tensor, worker);
}
bool StepTensors::selected(SelectionId selection, const Unit& unit) const {
  return context_->selected(selection, unit);
}
std::vector<std::string_view> StepTensors::workers() const { return context_->workers(); }
std::span<const Unit> StepTensors::series(const Unit& unit) const { return context_->series(unit, false); }
std::span<const Unit> StepTensors::series_of_all_modes(const Unit& unit) const { return context_->series(unit, true); }
bool StepTensors::other_has_step(std::size_t other) const { return context_->other_has_step(other); }
std::vector<Unit> StepTensors::other_units(std::string_view tensor, std::size_t other) const {
  return context_->other_units(tensor, other);
}
std::vector<std::string_view> StepTensors::other_workers(std::size_t other) const {
  return context_->other_workers(other);
}

void StepNeeds::value(const Unit& unit, Keep keep) { context_->want_value(unit, keep == Keep::for_later_steps); }
void StepNeeds::computed(const Unit& unit, const Reduction& reduction) { context_->want_computed(unit, reduction); }
void StepNeeds::saved(const Unit& unit, std::string_view reduction) { context_->want_saved(unit, reduction); }
void StepNeeds::measure(const Unit& unit, const Reduction& reduction) {
  if (const auto name = detail::rules::StepContext::saved_as(unit, reduction)) {
    saved(unit, *name);
  } else {
    computed(unit, reduction);
  }
}
void StepNeeds::wall_time() { context_->want_wall_time(); }

const TensorValue* StepView::value(const Unit& unit) const { return context_->value(unit); }
std::optional<double> StepView::computed(const Unit& unit, const Reduction& reduction) const {
  return context_->computed(unit, reduction);
}
std::optional<double> StepView::saved(const Unit& unit, std::string_view reduction) const {
  return context_->saved(unit, reduction);
}
std::optional<double> StepView::measure(const Unit& unit, const Reduction& reduction) const {
  const auto name = detail::rules::StepContext::saved_as(unit, reduction);
  return name ? saved(unit, *name) : computed(unit, reduction);
}
std::optional<double> StepView::wall_time() const { return context_->wall_time(); }
const std::optional<WaitOptions>& StepView::wait() const noexcept { return context_->run().options().wait; }
void StepView::evaluated() { context_->evaluated = true; }
void StepView::trigger(const Unit& unit, std::string_view check, double value, std::string_view relation,
                       double threshold) {
  context_->trigger(detail::rules::finding_of(unit, check, value, relation, threshold));
}
void StepView::trigger(Finding finding) { context_->trigger(std::move(finding)); }
void StepView::done() { context_->done = true; }
void StepView::warn(std::string text) { context_->run().warn(std::move(text)); }

bool RuleEnd::ended() const noexcept { return run_->ended(); }
bool RuleEnd::live() const noexcept { return run_->options().follow; }
double RuleEnd::now() const {
  using Seconds = std::chrono::duration<double>;
  return run_->options().now ? run_->options().now()
                             : Seconds(std::chrono::system_clock::now().time_since_epoch()).count();
}
void RuleEnd::evaluated() { run_->evaluated_at_end(); }
void RuleEnd::trigger(Finding finding) { run_->add_finding(std::move(finding)); }
void RuleEnd::warn(std::string text) { run_->warn(std::move(text)); }

std::size_t RuleSummary::steps_evaluated() const noexcept { return run_->result().steps_evaluated; }
std::size_t RuleSummary::tensors_asked() const noexcept { return run_->result().tensors_matched; }
std::vector<std::string_view> RuleSummary::saved(SelectionId selection, std::size_t trial) const {
  return run_->saved_tensors(selection, trial);
}
void RuleSummary::warn(std::string text) { run_->warn(std::move(text)); }
void RuleSummary::explain(std::string reason) { run_->explain(std::move(reason)); }

std::optional<GlobalStep> RuleTick::last_step() const noexcept { return run_->last_invoked(); }
void RuleTick::evaluated() { run_->count_evaluated(); }
void RuleTick::trigger(Finding finding) {
  run_->place(finding);
  run_->add_finding(std::move(finding));
}
void RuleTick::warn(std::string text) { run_->warn(std::move(text)); }

Rule::Rule(Parameters parameters) : parameters_(std::move(parameters)) {}
Rule::~Rule() = default;
void Rule::begin() {}
void Rule::set_required_tensors(StepNeeds& /*step*/) {}
void Rule::at_end(RuleEnd& /*end*/) {}
void Rule::tick(RuleTick& /*tick*/) {}
void Rule::summarize(RuleSummary& /*summary*/) {}
void Rule::set_trials(const Trial& base, std::vector<const Trial*> others) {
  base_trial_ = &base;
  other_trials_ = std::move(others);
}
SelectionId Rule::select(TensorSelection selection) {
  selections_.push_back(std::move(selection));
  return static_cast<SelectionId>(selections_.size() - 1);
}

}  // namespace smd
