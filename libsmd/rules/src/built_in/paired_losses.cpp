// SPDX-License-Identifier: Apache-2.0
#include "built_in/paired_losses.hpp"

#include "framework/nothing_evaluated.hpp"
#include "framework/rule_run.hpp"
#include "text/escape.hpp"
#include "text/nearest.hpp"
#include "text/trim.hpp"

#include <smd/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace smd::detail::rules {

namespace {

constexpr std::string_view blanks = " \t\r\n\v\f";

/// A pair's tensors have exactly one element, whatever collections they are in.
const Losses one_number;

std::string names_of(const std::vector<TensorPair>& pairs) {
  std::vector<std::string> texts;
  texts.reserve(pairs.size());
  for (const TensorPair& pair : pairs) {
    texts.push_back(pair.training + ":" + pair.validation);
  }
  return first_names({texts.begin(), texts.end()});
}

/// Calls `use(unit, loss)` for each worker's value of a tensor; returns their mean, nullopt without a value.
template <class Use>
std::optional<double> mean_over_workers(const StepView& step, const std::string& tensor, const Use& use) {
  double sum = 0;
  std::size_t workers = 0;
  for (const Unit& unit : RuleAccess::context(step).units_of(tensor)) {
    if (const std::optional<double> loss = one_number.loss(step, unit)) {
      use(unit, *loss);
      sum += *loss;
      ++workers;
    }
  }
  return workers == 0 ? std::nullopt : std::optional(sum / static_cast<double>(workers));
}

}  // namespace

ParameterSpec pairs_parameter() {
  return {"pairs",
          Type::list,
          {},
          "which tensors to compare, as train_name:eval_name,...; wins over names and modes. A name with colons "
          "is split where both parts are names of tensors; names with commas cannot be given"};
}

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

void check_pairs(const Parameters& parameters) {
  for (const std::string& item : parameters.list("pairs")) {
    if (readings_of_pair(item).empty()) {
      throw ConfigurationError(
          ConfigurationErrorKind::bad_value,
          fmt::format("parameter pairs: '{}' is not valid; give train_name:eval_name", printable(item)), "pairs");
    }
  }
}

void PairedLosses::resolve(const StepTensors& step) {
  const EvaluatedTrial& base = RuleAccess::context(step).run().base();
  const TrialSnapshot& snapshot = base.snapshot();
  const Resolved now{chosen_ ? base.sides() : nullptr, snapshot.generation(), snapshot.tensors()};
  if (resolved_ == now) {
    return;
  }
  resolved_ = now;
  pairs_.clear();
  absent_.clear();
  if (chosen_) {
    pair_by_sides(step, snapshot);
  } else {
    pair_as_said(snapshot);
  }
}

void PairedLosses::pair_by_sides(const StepTensors& step, const TrialSnapshot& snapshot) {
  const TensorSet& chosen = RuleAccess::context(step).run().selected(*chosen_);
  const auto has = [&](std::string_view name) {
    const std::optional<std::uint32_t> id = snapshot.find_tensor(name);
    return id && chosen[*id];
  };
  for (const std::string_view validation : resolved_->sides->names(Side::eval)) {
    if (!has(validation)) {
      continue;
    }
    const std::vector<std::string_view> partners = resolved_->sides->partners(validation);
    const auto first = std::find_if(partners.begin(), partners.end(),
                                    [&](std::string_view name) { return any_partner_ || has(name); });
    if (first != partners.end()) {
      pairs_.push_back({std::string(*first), std::string(validation)});
    }
  }
}

/// An item with several colons is split where both names exist in the trial.
void PairedLosses::pair_as_said(const TrialSnapshot& snapshot) {
  const auto absent = [&](const std::string& name) { return !snapshot.find_tensor(name); };
  const auto say_absent = [&](const std::string& name) {
    std::vector<std::string_view> names;
    for (const std::uint32_t id : snapshot.tensors_by_name()) {
      names.push_back(snapshot.tensor(id));
    }
    const std::vector<std::string> near = nearest(name, names);
    std::string text = "no tensor '" + printable(name) + "' was saved";
    for (std::size_t i = 0; i < near.size(); ++i) {
      text += (i == 0 ? "; similar names: " : ", ") + printable(near[i]);
    }
    if (std::find(absent_.begin(), absent_.end(), text) == absent_.end()) {
      absent_.push_back(std::move(text));
    }
  };
  for (const std::string& item : items_) {
    const std::vector<TensorPair> readings = readings_of_pair(item);
    const auto whole = std::find_if(readings.begin(), readings.end(), [&](const TensorPair& pair) {
      return !absent(pair.training) && !absent(pair.validation);
    });
    if (whole != readings.end()) {
      if (std::find(pairs_.begin(), pairs_.end(), *whole) == pairs_.end()) {
        pairs_.push_back(*whole);
      }
      continue;
    }
    for (const std::string& name : {readings.front().training, readings.front().validation}) {
      if (absent(name)) {
        say_absent(name);
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

std::vector<PairObservation> PairedLosses::add(StepView& step, ZeroLosses* zeros) {
  resolve(step);
  std::map<std::string_view, std::optional<double>> losses;
  const auto loss_of = [&](const std::string& tensor) {
    const auto [it, made] = losses.try_emplace(tensor);
    if (made) {
      it->second = mean_over_workers(step, tensor, [&](const Unit& unit, double loss) {
        if (zeros != nullptr) {
          zeros->see(step, unit, loss);
        }
      });
    }
    return it->second;
  };
  std::vector<PairObservation> observations;
  for (const TensorPair& pair : pairs_) {
    const std::optional<double> training = step.mode() == Mode::eval ? std::nullopt : loss_of(pair.training);
    const std::optional<double> validation = step.mode() == Mode::train ? std::nullopt : loss_of(pair.validation);
    if (!training && !validation) {
      continue;
    }
    Sum& since = since_[pair];
    if (training) {
      since.sum += *training;
      ++since.count;
    }
    if (validation && since.count > 0) {
      observations.push_back({&pair, since.sum / static_cast<double>(since.count), *validation});
      since = {};
    }
  }
  return observations;
}

std::string PairedLosses::why_nothing(const RuleSummary& summary) const {
  if (!pairs_.empty()) {
    return "no validation value was saved at or after a training value that no earlier one had: " + names_of(pairs_);
  }
  if (!chosen_) {
    return fmt::format("{}", fmt::join(absent_, "; "));
  }
  const std::vector<std::string_view> found = summary.saved(*chosen_);
  if (found.empty()) {
    return {};
  }
  return fmt::format(
      "the names of the {} ({}) tell no training loss from a validation loss of the same name; say which to compare: "
      "pairs=train_name:eval_name",
      any_partner_ ? "tensors that match" : "losses found", first_names(found));
}

}  // namespace smd::detail::rules
