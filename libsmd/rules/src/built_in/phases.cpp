// SPDX-License-Identifier: Apache-2.0
#include "built_in/phases.hpp"

#include "framework/common.hpp"
#include "framework/nothing_evaluated.hpp"
#include "framework/rule_run.hpp"
#include "text/escape.hpp"

#include <array>
#include <utility>

namespace smd::detail::rules {

void Phases::Sum::add(double value) {
  sum += value;
  ++count;
}

double Phases::Sum::mean() const { return sum / static_cast<double>(count); }

namespace {

/// Pairs the losses of a step by XGBoost's names: `train-X` with the first of the prefixes below for which a loss named
/// prefix and X exists.
std::vector<Phase> pairs_of_one_step(const StepTensors& step, const std::map<std::string, double>& losses) {
  constexpr std::string_view training = "train-";
  constexpr std::array<std::string_view, 6> validation = {"validation-", "valid-", "val-", "eval-", "test-", "dev-"};
  std::vector<Phase> pairs;
  for (const auto& [name, loss] : losses) {
    if (!name.starts_with(training)) {
      continue;
    }
    const std::string what = name.substr(training.size());
    for (const std::string_view prefix : validation) {
      if (const auto other = losses.find(std::string(prefix) + what); other != losses.end()) {
        pairs.push_back({{name, other->first}, loss, other->second, step.step(), step.mode_step()});
        break;
      }
    }
  }
  return pairs;
}

}  // namespace

std::vector<Phase> Phases::add(const StepTensors& step, const std::map<std::string, double>& losses) {
  std::vector<Phase> closed;
  switch (step.mode()) {
    case Mode::global:
      return pairs_of_one_step(step, losses);
    case Mode::train:
      closed = close();
      for (const auto& [tensor, loss] : losses) {
        open_[tensor].training.add(loss);
      }
      break;
    case Mode::eval:
      for (const auto& [tensor, loss] : losses) {
        Open& open = open_[tensor];
        open.validation.add(loss);
        open.last_step = step.step();
        open.last_mode_step = step.mode_step();
      }
      break;
    case Mode::predict:
      break;
  }
  return closed;
}

std::vector<Phase> Phases::close() {
  std::vector<Phase> closed;
  for (auto& [tensor, open] : open_) {
    if (open.validation.count == 0) {
      continue;
    }
    closed.push_back({{tensor, tensor}, std::nullopt, open.validation.mean(), open.last_step, open.last_mode_step});
    if (open.training.count > 0) {
      closed.back().training = open.training.mean();
    }
    open = {};
  }
  return closed;
}

/// Selects the tensors: the stated pairs; else those that match the rule's patterns, if it has any; else the collection
/// losses, if `knows_losses`; else all that may be losses.
void PhaseRule::begin() {
  if (const std::vector<std::string>& said = parameters().list("pairs"); !said.empty()) {
    pairs_.emplace(said);
    return;
  }
  const std::vector<std::string> regex =
      parameters().has("tensor_regex") ? parameters().list("tensor_regex") : std::vector<std::string>();
  const bool by_collection = regex.empty() && (only_losses_ || knows_losses(base_trial()));
  const SelectionId chosen =
      by_collection ? select({.collections = {"losses"}}) : select({.regex = regex, .all = regex.empty()});
  if (!base_trial().layout().has_modes) {
    pairs_.emplace(chosen, !by_collection);
  } else if (by_collection) {
    losses_ = Losses(chosen, std::nullopt);
  } else {
    losses_ = Losses(std::nullopt, chosen);
  }
}

bool PhaseRule::looks_at(const StepTensors& step) const {
  return step.step() >= start_ && step.mode() != Mode::predict;
}

void PhaseRule::set_required_tensors(StepNeeds& step) {
  if (!looks_at(step)) {
    return;
  }
  if (pairs_) {
    pairs_->need(step);
  } else {
    losses_.need_all(step);
  }
}

std::vector<Phase> PhaseRule::phases_at(StepView& step) {
  if (pairs_) {
    std::vector<Phase> phases;
    for (const PairObservation& seen : pairs_->add(step, zeros_ ? &*zeros_ : nullptr)) {
      phases.push_back({*seen.pair, seen.training, seen.validation, step.step(), step.mode_step()});
    }
    return phases;
  }
  const std::map<std::string, double> losses = losses_.pooled(step);
  if (!losses.empty()) {
    ++(step.mode() == Mode::global  ? steps_without_mode_
       : step.mode() == Mode::train ? training_steps_
                                    : validation_steps_);
  }
  return phases_.add(step, losses);
}

/// Makes a finding without step, mode and mode step.
Finding PhaseRule::finding(const Phase& phase, const MetCondition& condition) {
  Finding finding{.tensor = phase.tensors.validation,
                  .check = std::string(condition.check),
                  .value = condition.value,
                  .relation = std::string(condition.relation),
                  .threshold = condition.threshold};
  if (phase.tensors.training != phase.tensors.validation) {
    finding.message = finding_text(finding) + ", with training " + printable(phase.tensors.training);
    finding.details.emplace_back("training", phase.tensors.training);
  }
  return finding;
}

void PhaseRule::invoke_at_step(StepView& step) {
  if (!looks_at(step)) {
    return;
  }
  for (const Phase& phase : phases_at(step)) {
    const std::optional<std::vector<MetCondition>> conditions = evaluate(phase);
    if (!conditions) {
      continue;
    }
    step.evaluated();
    if (phase.tensors.training != phase.tensors.validation) {
      RuleAccess::context(step).run().note_pair(phase.tensors);
    }
    for (const MetCondition& condition : *conditions) {
      step.trigger(finding(phase, condition));
    }
  }
}

void PhaseRule::at_end(RuleEnd& end) {
  if (!end.ended()) {
    return;
  }
  for (const Phase& phase : phases_.close()) {
    const std::optional<std::vector<MetCondition>> conditions = evaluate(phase);
    if (!conditions) {
      continue;
    }
    end.evaluated();
    for (const MetCondition& condition : *conditions) {
      Finding found = finding(phase, condition);
      found.step = phase.last_step;
      found.mode = Mode::eval;
      found.mode_step = phase.last_mode_step;
      end.trigger(std::move(found));
    }
  }
}

/// Explains which side was missing if no training loss could be compared with a validation loss.
void PhaseRule::summarize(RuleSummary& summary) {
  const auto saved = [](std::size_t steps, std::string_view mode) {
    return "losses were saved at " + counted(steps, "step") + " of mode " + std::string(mode);
  };
  if (pairs_) {
    for (const std::string& text : pairs_->absent()) {
      summary.warn("pairs: " + text);
    }
    if (const std::string reason = pairs_->why_nothing(summary); !reason.empty()) {
      summary.explain(reason);
    }
  } else if (training_steps_ > 0 && validation_steps_ == 0) {
    summary.explain("no validation loss: " + saved(training_steps_, "TRAIN") + ", and at none of mode EVAL");
  } else if (validation_steps_ > 0 && training_steps_ == 0) {
    summary.explain("no training loss: " + saved(validation_steps_, "EVAL") + ", and at none of mode TRAIN");
  } else if (validation_steps_ > 0) {
    summary.explain(
        "no validation phase has ended after a training phase of the same loss: " + saved(training_steps_, "TRAIN") +
        ", and at " + std::to_string(validation_steps_) + " of mode EVAL");
  } else if (steps_without_mode_ > 0) {
    summary.explain("no validation loss: losses were saved at " + counted(steps_without_mode_, "step") +
                    " without a mode, and at none a loss named train-X beside validation-X (or valid-, val-, eval-, "
                    "test-, dev-)");
  }
}

}  // namespace smd::detail::rules
