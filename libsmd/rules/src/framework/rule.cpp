// SPDX-License-Identifier: Apache-2.0
#include <smd/rule.hpp>

#include "framework/rule_run.hpp"

#include <array>
#include <chrono>
#include <utility>

namespace smd {

std::string shown_message(const Finding& finding) {
  return (finding.worker && finding.several_workers ? *finding.worker + ": " : "") + finding.message;
}

std::string_view to_string(RuleStatus status) noexcept {
  constexpr std::array<std::string_view, 5> names = {"NoIssuesFound", "IssuesFound", "Error", "InProgress",
                                                     "NotEvaluated"};
  static_assert(names.size() == static_cast<std::size_t>(RuleStatus::not_evaluated) + 1);
  return names[static_cast<std::size_t>(status)];
}

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
void RuleSummary::note(std::string text) { run_->warn(std::move(text), false); }
void RuleSummary::explain(std::string reason) { run_->explain(std::move(reason)); }
void RuleSummary::none_evaluated(std::string reason) { run_->none_evaluated(std::move(reason)); }

std::optional<GlobalStep> RuleTick::last_step() const noexcept {
  return run_->last() ? std::optional(run_->last()->step) : std::nullopt;
}
void RuleTick::evaluated() { run_->count_evaluated(); }
void RuleTick::trigger(Finding finding) {
  if (run_->last()) {
    detail::rules::place_at(finding, *run_->last());
  } else {
    finding.step.reset();
    finding.mode = Mode::global;
    finding.mode_step = {};
  }
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
