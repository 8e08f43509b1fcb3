// SPDX-License-Identifier: Apache-2.0
#include <smd/custom_rule.hpp>

#include "framework/common.hpp"
#include "text/mapped.hpp"

#include <smd/error.hpp>
#include <smd/snapshot.hpp>

#include <fmt/format.h>

#include <map>
#include <typeinfo>
#include <utility>

namespace smd {

namespace {

/// Waits until a step can be read. @throws StepUnavailable, NoMoreData, StepNotYetAvailable.
void require_step(const Trial& trial, GlobalStep step, const std::optional<WaitOptions>& wait) {
  const TrialSnapshot snapshot = TrialSnapshot::last(trial);
  const StepKey key(step);
  if (!wait || snapshot.ended()) {
    snapshot.require(key);
  } else if (snapshot.state(key) != StepState::available &&
             trial.wait_for_steps({&key, 1}, *wait) != WaitOutcome::reached) {
    throw StepNotYetAvailable(fmt::format("step {} is not there yet; the job is still running", step.value), key);
  }
}

}  // namespace

/// Hidden, because it would otherwise be exported with its class.
struct __attribute__((visibility("hidden"))) RequiredTensors::Impl {
  struct Required {
    const Trial* trial;
    Tensor tensor;
    std::vector<GlobalStep> steps;
  };

  [[nodiscard]] const Trial* of(const Trial* trial) const noexcept { return trial == nullptr ? base : trial; }
  /// Requires all steps before any tensor, because a step may turn out to be skipped during the wait for another.
  void fetch(const std::optional<WaitOptions>& wait) const {
    for (const Required& required : all) {
      for (const GlobalStep step : required.steps) {
        require_step(*required.trial, step, wait);
      }
    }
    for (const Required& required : all) {
      for (const GlobalStep step : required.steps) {
        static_cast<void>(required.tensor.workers(step));  // throws if nothing of it was saved then
      }
    }
  }

  const Trial* base = nullptr;
  std::vector<Required> all;
  std::map<std::pair<const Trial*, std::string>, std::size_t> places;  // in `all`
};

RequiredTensors::RequiredTensors() : impl_(std::make_unique<Impl>()) {}
RequiredTensors::~RequiredTensors() = default;

void RequiredTensors::add(std::string_view name, const std::vector<GlobalStep>& steps, const Trial* trial,
                          bool should_match_regex) {
  const Trial* const where = impl_->of(trial);
  std::vector<std::string> names = {std::string(name)};
  if (should_match_regex) {
    names = where->tensor_names({.regex = names});
  }
  for (const std::string& one : names) {
    if (const auto known = impl_->places.find({where, one}); known != impl_->places.end()) {
      std::vector<GlobalStep>& there = impl_->all[known->second].steps;
      there.insert(there.end(), steps.begin(), steps.end());
    } else {
      impl_->all.push_back({where, where->tensor(one), steps});
      impl_->places.emplace(std::pair(where, one), impl_->all.size() - 1);
    }
  }
}

std::vector<Tensor> RequiredTensors::get(const Trial* trial) const {
  std::vector<Tensor> tensors;
  for (const Impl::Required& required : impl_->all) {
    if (required.trial == impl_->of(trial)) {
      tensors.push_back(required.tensor);
    }
  }
  return tensors;
}

std::vector<std::string> RequiredTensors::get_names(const Trial* trial) const {
  return detail::mapped(get(trial), &Tensor::name);
}

std::vector<GlobalStep> RequiredTensors::get_tensor_steps(std::string_view name, const Trial* trial) const {
  const auto known = impl_->places.find({impl_->of(trial), std::string(name)});
  return known == impl_->places.end() ? std::vector<GlobalStep>() : impl_->all[known->second].steps;
}

struct __attribute__((visibility("hidden"))) CustomRule::Impl {
  bool evaluate(CustomRule& rule, GlobalStep step, const std::optional<WaitOptions>& wait) {
    std::vector<const Trial*> trials = {base};
    trials.insert(trials.end(), others.begin(), others.end());
    const NoRefresh no_refresh(trials, true);  // other rules may be evaluated on them in other threads
    required.impl_->base = base;
    required.impl_->all.clear();
    required.impl_->places.clear();
    rule.set_required_tensors(step);
    required.impl_->fetch(wait);
    return rule.invoke_at_step(step);
  }

  const Trial* base = nullptr;
  std::vector<const Trial*> others;
  std::string action;
  RequiredTensors required;
  std::unique_ptr<Rule> bridge;  // made at first use, when the dynamic type of the rule is known
};

namespace {

/// A custom rule as the evaluator sees it.
class Bridge final : public Rule {
 public:
  Bridge(CustomRule& rule, CustomRule::Impl& impl, std::unique_ptr<CustomRule> owned = {})
      : custom_(rule), impl_(impl), owned_(std::move(owned)) {
    set_name(rule.rule_name());
    set_action(impl.action);
    if (impl.base != nullptr) {
      set_trials(*impl.base, impl.others);
    }
  }

  void begin() override {
    impl_.base = &base_trial();
    impl_.others.assign(other_trials().begin(), other_trials().end());
  }

  void invoke_at_step(StepView& step) override {
    const bool met = impl_.evaluate(custom_, step.step(), step.wait());
    step.evaluated();
    if (met) {
      step.trigger({.check = "condition", .value = 1, .relation = ">", .message = "the condition is met"});
    }
  }

 private:
  CustomRule& custom_;
  CustomRule::Impl& impl_;
  std::unique_ptr<CustomRule> owned_;
};

}  // namespace

CustomRule::CustomRule(const Trial& base_trial, std::string action_str, std::vector<const Trial*> other_trials)
    : impl_(std::make_unique<Impl>()) {
  impl_->base = &base_trial;
  impl_->others = std::move(other_trials);
  impl_->action = std::move(action_str);
}
CustomRule::CustomRule() : impl_(std::make_unique<Impl>()) {}
CustomRule::~CustomRule() = default;

void CustomRule::set_required_tensors(GlobalStep /*step*/) {}

void CustomRule::invoke(GlobalStep step, const WaitOptions& wait) {
  {
    const Refresh refresh(base_trial());  // even if the step is known: the rule may look beyond it
    static_cast<void>(TrialSnapshot::take(base_trial()));
  }
  require_step(base_trial(), step, wait);
  if (impl_->evaluate(*this, step, wait)) {
    detail::rules::throw_condition_met(rule_name(), step);
  }
}

const Trial& CustomRule::base_trial() const noexcept { return *impl_->base; }
std::span<const Trial* const> CustomRule::other_trials() const noexcept { return impl_->others; }
RequiredTensors& CustomRule::req_tensors() noexcept { return impl_->required; }
const std::string& CustomRule::action_str() const noexcept { return impl_->action; }
std::string CustomRule::rule_name() const { return detail::rules::class_name(typeid(*this)); }

CustomRule::operator Rule&() {
  if (!impl_->bridge) {
    impl_->bridge = std::make_unique<Bridge>(*this, *impl_);
  }
  return *impl_->bridge;
}

std::unique_ptr<Rule> to_rule(std::unique_ptr<CustomRule> rule) {
  CustomRule& custom = *rule;
  CustomRule::Impl& impl = *custom.impl_;
  return std::make_unique<Bridge>(custom, impl, std::move(rule));
}

}  // namespace smd
