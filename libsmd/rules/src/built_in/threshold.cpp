// SPDX-License-Identifier: Apache-2.0
#include "built_in/builtin.hpp"

#include "framework/rule_run.hpp"
#include "text/escape.hpp"

#include <smd/elements.hpp>
#include <smd/trial.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace smd::detail::rules {

namespace {

/// Returns the names of all reductions but percentiles.
std::vector<std::string_view> kinds() {
  std::vector<std::string_view> names;
  for (const ReductionFacts& facts : all_reductions()) {
    if (facts.kind != ReductionKind::percentile) {
      names.push_back(facts.name);
    }
  }
  return names;
}

Reduction reduction_of(const Parameters& parameters) {
  const std::string& name = parameters.text("reduction");
  std::optional<Reduction> reduction = parse_reduction(name);
  if (!reduction) {
    throw unknown_word(
        ConfigurationErrorKind::bad_value, fmt::format("parameter reduction: '{}' is not valid", printable(name)), name,
        kinds(), fmt::format("give one of {}, p99.9 or the like, or one with abs_ in front", fmt::join(kinds(), ", ")),
        "reduction");
  }
  if (parameters.boolean("abs") && !reduction->abs) {
    reduction = parse_reduction("abs_" + name);
    if (!reduction) {
      throw ConfigurationError(ConfigurationErrorKind::bad_value,
                               fmt::format("parameter abs: there is no {} of absolute values", printable(name)), "abs");
    }
  }
  return *reduction;
}

/// Each of these is NaN if an element is.
constexpr std::array<std::string_view, 4> of_all_elements = {"min", "max", "mean", "l2"};
/// The number of elements, including those outside all buckets.
constexpr std::string_view number_of_elements = "num";

/// Requests what `abs_mean_bound` needs.
void need_buckets(StepNeeds& step, const Unit& unit) {
  StepContext& context = RuleAccess::context(step);
  context.want(unit, context.saved_position(unit, saved_histogram), RecordRequest::Kind::value);
  for (const std::string_view name : of_all_elements) {
    step.saved(unit, name);
  }
  step.saved(unit, number_of_elements);
}

/// Returns the most that the mean of the absolute values can be: the mean that results if all elements lie at the edge
/// of their bucket that is farther from 0. Without `most`, returns the least: all lie at the nearer edge (at 0 if the
/// bucket contains it). Edges are clamped to the saved min and max. NaN if an element is NaN; nullopt if there are no
/// elements.
std::optional<double> abs_mean_bound(StepView& step, const Unit& unit, bool most) {
  StepContext& context = RuleAccess::context(step);
  const Slot* const slot =
      context.asked(unit, context.saved_position(unit, saved_histogram), RecordRequest::Kind::value);
  if (slot == nullptr || !slot->have_value || slot->value.shape().size() != 2 || slot->value.shape()[1] != 3) {
    return std::nullopt;
  }
  for (const std::string_view name : of_all_elements) {
    if (std::isnan(step.saved(unit, name).value_or(0))) {
      return std::numeric_limits<double>::quiet_NaN();
    }
  }
  const double min = step.saved(unit, "min").value_or(-std::numeric_limits<double>::infinity());
  const double max = step.saved(unit, "max").value_or(std::numeric_limits<double>::infinity());
  const std::vector<double> numbers = to_doubles(slot->value.view());
  double elements = 0;
  double sum = 0;
  for (std::size_t i = 0; i + 2 < numbers.size(); i += 3) {
    const double count = numbers[i + 2];
    if (count == 0) {
      continue;  // the edges of an empty bucket may be infinite
    }
    const double left = std::min(std::max(numbers[i], min), max);
    const double right = std::min(std::max(numbers[i + 1], min), max);
    elements += count;
    sum += most                    ? count * std::max(std::abs(left), std::abs(right))
           : left < 0 && right > 0 ? 0
                                   : count * std::min(std::abs(left), std::abs(right));
  }
  elements = std::max(elements, step.saved(unit, number_of_elements).value_or(0));
  return elements > 0 ? std::optional(sum / elements) : std::nullopt;
}

class Threshold final : public UnitRule {
 public:
  Threshold(const Parameters& parameters, TensorSelection selection, const Reduction& reduction, std::string relation,
            Mode mode, std::int64_t for_steps)
      : UnitRule(parameters, std::move(selection)),
        reduction_(reduction),
        check_(to_string(reduction_)),
        relation_(std::move(relation)),
        threshold_(parameters.number("threshold")),
        mode_(mode),
        for_steps_(for_steps) {}

  void summarize(RuleSummary& summary) override {
    if (mode_ != Mode::global && !base_trial().layout().has_modes) {
      summary.explain("the steps of this trial have no modes; select by name instead");
    }
  }

 private:
  [[nodiscard]] bool looks_at(const StepTensors& step) const override {
    return mode_ == Mode::global || step.mode() == mode_;
  }

  void need(StepNeeds& step, const Unit& unit) override {
    if (!bound_of(unit).empty()) {
      need_buckets(step, unit);
    } else {
      step.measure(unit, reduction_);
    }
  }

  void evaluate(StepView& step, const Unit& unit) override {
    const std::string_view bound = bound_of(unit);
    const std::optional<double> value =
        bound.empty() ? step.measure(unit, reduction_) : abs_mean_bound(step, unit, bound == "at most");
    if (!value) {
      return;
    }
    step.evaluated();
    std::int64_t steps = holds(*value, relation_, threshold_) ? 1 : 0;
    if (for_steps_ > 1) {
      std::int64_t& before = steps_[{std::string(unit.tensor()), std::string(unit.worker()), step.mode()}];
      steps = before = steps == 0 ? 0 : before + 1;
    }
    if (steps >= for_steps_) {
      trigger(step, unit, *value, steps);
    }
  }

  /// Returns which bound of the measurement a unit's buckets give, `at most` or `at least`; empty if the measurement is
  /// known otherwise, or if a bound cannot meet the condition.
  [[nodiscard]] std::string_view bound_of(const Unit& unit) const {
    if (check_ != "abs_mean" || unit.has_value() || unit.has_reduction("abs_mean") ||
        !unit.has_reduction(saved_histogram)) {
      return {};
    }
    return relation_.starts_with('<') ? "at most" : relation_.starts_with('>') ? "at least" : "";
  }

  void trigger(StepView& step, const Unit& unit, double value, std::int64_t steps) const {
    Finding finding = finding_of(unit, check_, value, relation_, threshold_);
    finding.message = finding_text(finding, bound_of(unit));
    if (for_steps_ > 1) {
      finding.message += fmt::format(" for {} steps", steps);
      finding.details.emplace_back("steps", std::to_string(steps));
    }
    step.trigger(std::move(finding));
  }

  Reduction reduction_;
  std::string check_;
  std::string relation_;
  double threshold_;
  Mode mode_;
  std::int64_t for_steps_;
  std::map<std::tuple<std::string, std::string, Mode>, std::int64_t> steps_;  // successive ones that met the condition
};

}  // namespace

std::unique_ptr<Rule> make_threshold_rule(const Parameters& parameters, TensorSelection selection,
                                          const Reduction& reduction, std::string relation, Mode mode,
                                          std::int64_t for_steps) {
  return std::make_unique<Threshold>(parameters, std::move(selection), reduction, std::move(relation), mode, for_steps);
}

RuleDescription threshold_rule() {
  return {
      .name = "Threshold",
      .summary = "a reduction of a tensor lies above or below a bound, for a number of steps",
      .condition =
          "per tensor, worker and mode: reduction(x) operator threshold at for_steps successive steps at which the "
          "tensor was evaluated\n"
          "The saved reduction if there is one, else that of the raw value; of abs_mean of a histogram, what its "
          "buckets say that it is at most (at least). NaN meets no condition.",
      .frameworks = "all",
      .parameters = {{"reduction", Type::text, no_default,
                      "what to measure: min, max, mean, std, variance, sum, prod, l1, l2, median, p99.9, rms, count, "
                      "nan, inf, zero, zero_fraction and the like, also with abs_ in front",
                      true},
                     {"abs", Type::boolean, "False", "measure absolute values, as abs_ in front does"},
                     one_of({"<", "<=", ">", ">=", "==", "!="},
                            {"operator", Type::text, no_default,
                             "how the measurement must compare with the threshold to trigger", true}),
                     {"threshold", Type::number, no_default, "the bound", true},
                     collection_names_parameter(),
                     tensor_regex_parameter(),
                     one_of({"TRAIN", "EVAL", "PREDICT", "GLOBAL"},
                            {"mode", Type::text, no_default,
                             "only steps of this mode; GLOBAL or not given: all, each mode counted by itself"}),
                     at_least(1, {"for_steps", Type::integer, "1", "successive steps that must meet the condition"})},
      .create =
          [](const Parameters& parameters) {
            const Reduction reduction = reduction_of(parameters);
            return make_threshold_rule(
                parameters, required_selection(parameters), reduction, parameters.text("operator"),
                parse_mode(parameters.text("mode")).value_or(Mode::global), parameters.integer("for_steps"));
          },
      .saves =
          [](const Parameters& parameters) {
            const Reduction reduction = reduction_of(parameters);
            const bool can_be_saved = facts_of(reduction.kind).saved_by == SavedBy::every_hook;
            return only_in_mode(
                parameters, selected(parameters, "threshold", can_be_saved ? Texts{to_string(reduction)} : Texts()));
          },
  };
}

}  // namespace smd::detail::rules
