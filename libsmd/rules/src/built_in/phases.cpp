// SPDX-License-Identifier: Apache-2.0
#include "built_in/phases.hpp"

#include "framework/common.hpp"
#include "framework/nothing_evaluated.hpp"
#include "framework/rule_run.hpp"
#include "text/escape.hpp"
#include "text/mapped.hpp"
#include "text/nearest.hpp"
#include "text/trim.hpp"
#include "text/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace smd::detail::rules {

namespace {

constexpr std::string_view blanks = " \t\r\n\v\f";

/// A pair's tensors have exactly one element, whatever collections they are in.
const Losses one_number;

/// Returns the pairs of names that an item of the parameter `pairs` may mean: one for each colon at which it can be
/// split.
std::vector<TensorPair> readings_of_pair(std::string_view item) {
  std::vector<TensorPair> readings;
  for (std::size_t colon = item.find(':'); colon != std::string_view::npos; colon = item.find(':', colon + 1)) {
    const std::string_view training = text::trimmed(item.substr(0, colon), blanks);
    const std::string_view validation = text::trimmed(item.substr(colon + 1), blanks);
    if (!training.empty() && !validation.empty()) {
      readings.push_back({std::string(training), std::string(validation)});
    }
  }
  return readings;
}

/// Returns whether the least value of that name is the best, as of a loss. scikit-learn negates errors: `neg_rmse`.
bool is_error_name(std::string_view name) {
  constexpr std::array<std::string_view, 7> errors = {"error", "mae", "merror", "mse", "perplexity", "ppl", "rmse"};
  const std::vector<std::string> words = text::split_words(name);
  return !contains(words, "neg") && !contains(words, "negative") &&
         std::ranges::find_first_of(words, errors) != words.end();
}

}  // namespace

ParameterSpec pairs_parameter() {
  return {"pairs", Type::list, no_default,
          "which tensors to compare, as train_name:eval_name,...; wins over names and modes. A name with colons is "
          "split where both parts are names of tensors; names with commas cannot be given"};
}

void PairedLosses::resolve(const StepTensors& step) {
  const EvaluatedTrial& base = RuleAccess::context(step).run.base();
  const TrialSnapshot& snapshot = base.snapshot();
  const std::pair now(base.names(), snapshot.tensors());
  const auto before = std::exchange(resolved_, now);
  if (before == now) {
    return;
  }
  std::set<TensorPair> gone(pairs_.begin(), pairs_.end());
  pairs_.clear();
  absent_.clear();
  others_.clear();
  if (chosen_) {
    pair_by_sides(step, *base.sides(), snapshot);
  } else {
    pair_as_said(snapshot);
  }
  const auto is_old = [&](const std::string& name) {
    const std::optional<std::uint32_t> id = snapshot.find_tensor(name);
    return id && *id < before->second;
  };
  bool again = false;
  for (const TensorPair& pair : pairs_) {
    gone.erase(pair);
    const bool added = since_.try_emplace(pair).second;
    again = again || (added && before && (is_old(pair.training) || is_old(pair.validation)));
  }
  if (again || !gone.empty()) {
    RuleAccess::context(step).run.ask_again();
  }
}

void PairedLosses::pair_by_sides(const StepTensors& step, const Sides& sides, const TrialSnapshot& snapshot) {
  const TensorSet& chosen = RuleAccess::context(step).run.selected(*chosen_);
  const auto has = [&](std::string_view name) {
    const std::optional<std::uint32_t> id = snapshot.find_tensor(name);
    return id && chosen[*id];
  };
  for (const std::string_view validation : sides.names(Side::eval)) {
    const std::vector<std::string_view> partners = sides.partners(validation);
    const auto first = std::ranges::find_if(partners, [&](std::string_view name) { return any_partner_ || has(name); });
    if (first != partners.end() && has(validation)) {
      pairs_.push_back({std::string(*first), std::string(validation)});
    } else if (!partners.empty() && is_error_name(validation)) {
      others_.push_back(fmt::format("{}:{}", partners.front(), validation));
    }
  }
}

/// An item with several colons is split where both names exist in the trial.
void PairedLosses::pair_as_said(const TrialSnapshot& snapshot) {
  const auto absent = [&](const std::string& name) { return !snapshot.find_tensor(name); };
  for (const std::string& item : items_) {
    const std::vector<TensorPair> readings = readings_of_pair(item);
    const auto whole = std::ranges::find_if(
        readings, [&](const TensorPair& pair) { return !absent(pair.training) && !absent(pair.validation); });
    if (whole != readings.end()) {
      add_once(pairs_, *whole);
      continue;
    }
    for (const std::string& name : {readings.front().training, readings.front().validation}) {
      if (absent(name)) {
        const auto names = mapped(snapshot.tensors_by_name(), [&](std::uint32_t id) { return snapshot.tensor(id); });
        const std::string near =
            text::joined(nearest(name, names), ", ", [](const auto& one) { return printable(one); });
        add_once(absent_,
                 "no tensor " + in_quotes(name) + " was saved" + (near.empty() ? "" : "; similar names: " + near));
      }
    }
  }
}

void PairedLosses::need(StepNeeds& step) {
  resolve(step);
  StepContext& context = RuleAccess::context(step);
  std::set<std::string_view> asked;
  const auto ask = [&](const std::string& tensor) {
    const std::vector<Unit> units = context.units_of(tensor);
    if (asked.insert(tensor).second) {
      for (const Unit& unit : units) {
        one_number.need(step, unit);
      }
    }
    return !units.empty();
  };
  for (const TensorPair& pair : pairs_) {
    if (step.mode() != Mode::eval) {
      ask(pair.training);
    }
    if (step.mode() != Mode::train && ask(pair.validation)) {
      context.pairs.push_back(&pair);
    }
  }
}

std::vector<Phase> PairedLosses::add(StepView& step, ZeroLosses* zeros) {
  resolve(step);
  std::map<std::string_view, Mean> losses;  // over workers
  const auto loss_of = [&](const std::string& tensor) {
    const auto [it, made] = losses.try_emplace(tensor);
    for (const Unit& unit : made ? RuleAccess::context(step).units_of(tensor) : std::vector<Unit>()) {
      if (const std::optional<double> loss = one_number.loss(step, unit)) {
        if (zeros != nullptr) {
          zeros->see(step, unit, *loss);
        }
        it->second.add(*loss);
      }
    }
    return it->second.value();
  };
  std::vector<Phase> phases;
  for (const TensorPair& pair : pairs_) {
    const std::optional<double> training = step.mode() == Mode::eval ? std::nullopt : loss_of(pair.training);
    const std::optional<double> validation = step.mode() == Mode::train ? std::nullopt : loss_of(pair.validation);
    if (!training && !validation) {
      continue;
    }
    Mean& since = since_[pair];
    if (training) {
      since.add(*training);
    }
    if (validation && since.count > 0) {
      phases.push_back({pair, since.value(), *validation, step.step(), step.mode_step()});
      since = {};
    }
  }
  return phases;
}

std::string PairedLosses::why_nothing(RuleSummary& summary) const {
  if (!pairs_.empty()) {
    const auto texts = mapped(pairs_, [](const TensorPair& pair) { return pair.training + ":" + pair.validation; });
    return "no validation value was saved at or after a training value that no earlier one had: " +
           first_names({texts.begin(), texts.end()});
  }
  if (!chosen_) {
    return fmt::format("{}", fmt::join(absent_, "; "));
  }
  const std::vector<std::string_view> found = summary.saved(*chosen_);
  if (found.empty()) {
    if (!any_partner_ && !others_.empty()) {
      summary.warn("no name is that of a loss, but some tell training from validation; if they are losses, say pairs=" +
                   first_names({others_.begin(), others_.end()}));
    }
    return {};
  }
  return fmt::format(
      "the names of the {} ({}) tell no training loss from a validation loss of the same name; say which to compare: "
      "pairs=train_name:eval_name",
      any_partner_ ? "tensors that match" : "losses found", first_names(found));
}

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
    if (const std::optional<double> validation = open.validation.value()) {
      closed.push_back({{tensor, tensor}, open.training.value(), *validation, open.last_step, open.last_mode_step});
      open = {};
    }
  }
  return closed;
}

PhaseRule::PhaseRule(const Parameters& parameters) : Rule(parameters) {
  for (const std::string& item : parameters.list("pairs")) {
    if (readings_of_pair(item).empty()) {
      throw ConfigurationError(
          ConfigurationErrorKind::bad_value,
          fmt::format("parameter pairs: '{}' is not valid; give train_name:eval_name", printable(item)), "pairs");
    }
  }
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
    return;
  }
  losses_ = by_collection ? Losses(chosen, std::nullopt) : Losses(std::nullopt, chosen);
  without_mode_.emplace(chosen, !by_collection);
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
    if (step.mode() == Mode::global) {
      without_mode_->need(step);
    }
  }
}

std::vector<Phase> PhaseRule::phases_at(StepView& step) {
  if (pairs_) {
    return pairs_->add(step, zeros_ ? &*zeros_ : nullptr);
  }
  const std::map<std::string, double> losses = losses_.pooled(step);
  if (!losses.empty()) {
    ++(step.mode() == Mode::global  ? steps_without_mode_
       : step.mode() == Mode::train ? training_steps_
                                    : validation_steps_);
  }
  std::vector<Phase> phases = phases_.add(step, losses);
  if (step.mode() == Mode::global) {
    std::vector<Phase> named = without_mode_->add(step, nullptr);
    if (phases.empty()) {
      phases = std::move(named);
    }
  }
  return phases;
}

template <class Place, class Found>
void PhaseRule::evaluate_all(Place& place, const std::vector<Phase>& phases, const Found& found) {
  for (const Phase& phase : phases) {
    std::optional<std::vector<Finding>> findings = evaluate(phase);
    if (!findings) {
      continue;
    }
    place.evaluated();
    for (Finding& finding : *findings) {
      if (phase.tensors.training != phase.tensors.validation) {
        Finding shown = finding;
        const bool of_training = finding.check == "train";
        shown.tensor = of_training ? phase.tensors.training : phase.tensors.validation;
        finding.message = finding_text(shown) + (of_training ? ", with validation " : ", with training ") +
                          printable(of_training ? phase.tensors.validation : phase.tensors.training);
        finding.details.emplace_back("training", phase.tensors.training);
      }
      found(phase, std::move(finding));
    }
  }
}

void PhaseRule::invoke_at_step(StepView& step) {
  started_ = step.step() >= start_;
  if (!looks_at(step)) {
    return;
  }
  const std::vector<Phase> phases = phases_at(step);
  evaluate_all(step, phases, [&](const Phase& /*phase*/, Finding found) { step.trigger(std::move(found)); });
  for (const Phase& phase : phases) {
    if (phase.tensors.training != phase.tensors.validation) {
      RuleAccess::context(step).run.note_pair(phase.tensors);
    }
  }
}

void PhaseRule::at_end(RuleEnd& end) {
  if (!end.ended()) {
    return;
  }
  evaluate_all(end, phases_.close(), [&](const Phase& phase, Finding found) {
    found.step = phase.last_step;
    found.mode = Mode::eval;
    found.mode_step = phase.last_mode_step;
    end.trigger(std::move(found));
  });
}

/// Explains which side was missing if no training loss could be compared with a validation loss.
void PhaseRule::summarize(RuleSummary& summary) {
  const auto saved = [](std::size_t steps, std::string_view mode) {
    return "losses were saved at " + counted(steps, "step") + " of mode " + std::string(mode);
  };
  if (!started_) {
    summary.explain("no step of the trial is in range");
  } else if (pairs_) {
    for (const std::string& text : pairs_->absent()) {
      summary.warn("pairs: " + text);
    }
    summary.explain(pairs_->why_nothing(summary));
  } else if (training_steps_ > 0 && validation_steps_ == 0) {
    summary.explain("no validation loss: " + saved(training_steps_, "TRAIN") + ", and at none of mode EVAL");
  } else if (validation_steps_ > 0 && training_steps_ == 0) {
    summary.explain("no training loss: " + saved(validation_steps_, "EVAL") + ", and at none of mode TRAIN");
  } else if (validation_steps_ > 0) {
    summary.explain(
        "no validation phase has ended after a training phase of the same loss: " + saved(training_steps_, "TRAIN") +
        ", and at " + std::to_string(validation_steps_) + " of mode EVAL");
  } else if (steps_without_mode_ > 0) {
    summary.explain(
        "no validation loss: losses were saved at " + counted(steps_without_mode_, "step") +
        " without a mode, and at none a loss named train-X beside validation-X (or valid-, val-, eval-, test-, dev-), "
        "nor other names of a training and a validation loss, as train_loss and val_loss");
  }
  measured_.summarize(summary);
}

}  // namespace smd::detail::rules
