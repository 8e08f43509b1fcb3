// SPDX-License-Identifier: Apache-2.0
#include "built_in/builtin.hpp"

#include "built_in/buckets.hpp"
#include "framework/common.hpp"
#include "framework/saves.hpp"
#include "text/escape.hpp"
#include "text/nearest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>

namespace smd::detail::rules {

namespace {

/// Returns the names of all reductions but percentiles.
std::vector<std::string_view> kinds() {
  std::vector<std::string_view> names;
  for (const ReductionFacts& facts : reduction_table) {
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
    const std::vector<std::string> near = nearest(name, kinds(), 1);
    throw ConfigurationError(
        ConfigurationErrorKind::bad_value,
        fmt::format("parameter reduction: '{}' is not valid; {}", printable(name),
                    near.empty() ? fmt::format("give one of {}, p99.9 or the like, or one with abs_ in front",
                                               fmt::join(kinds(), ", "))
                                 : fmt::format("did you mean {}?", near.front())),
        "reduction", near.empty() ? std::string() : near.front());
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

/// Returns whether every hook can save the reduction.
bool can_be_saved(const Reduction& reduction) { return facts_of(reduction.kind).saved_by == SavedBy::every_hook; }

/// Returns whether the condition is met; false for NaN.
bool holds(double value, std::string_view relation, double threshold) {
  if (std::isnan(value)) {
    return false;
  }
  if (relation == "<") {
    return value < threshold;
  }
  if (relation == "<=") {
    return value <= threshold;
  }
  if (relation == ">") {
    return value > threshold;
  }
  if (relation == ">=") {
    return value >= threshold;
  }
  return relation == "==" ? value == threshold : value != threshold;
}

class Threshold final : public Rule {
 public:
  explicit Threshold(const Parameters& parameters)
      : Rule(parameters),
        tensors_(select(selection_of(parameters, false))),
        reduction_(reduction_of(parameters)),
        check_(to_string(reduction_)),
        relation_(parameters.text("operator")),
        threshold_(parameters.number("threshold")),
        mode_(parse_mode(parameters.text("mode")).value_or(Mode::global)),
        for_steps_(parameters.integer("for_steps")) {
    require_selection(parameters);
  }

  void set_required_tensors(StepNeeds& step) override {
    if (applies(step)) {
      for (const Unit& unit : step.units(tensors_)) {
        if (!bound_of(unit).empty()) {
          need_buckets(step, unit);
        } else {
          step.measure(unit, reduction_);
        }
      }
    }
  }

  void invoke_at_step(StepView& step) override {
    if (!applies(step)) {
      return;
    }
    for (const Unit& unit : step.units(tensors_)) {
      const std::optional<double> value = measure(step, unit);
      if (!value) {
        continue;
      }
      step.evaluated();
      std::int64_t& steps = steps_[{std::string(unit.tensor()), std::string(unit.worker()), step.mode()}];
      steps = holds(*value, relation_, threshold_) ? steps + 1 : 0;
      if (steps >= for_steps_) {
        trigger(step, unit, *value, steps);
      }
    }
  }

 private:
  [[nodiscard]] bool applies(const StepTensors& step) const noexcept {
    return mode_ == Mode::global || step.mode() == mode_;
  }

  /// Returns which bound of the measurement a unit's buckets give, `at most` or `at least`; empty if the measurement is
  /// known otherwise, or if a bound cannot meet the condition.
  [[nodiscard]] std::string_view bound_of(const Unit& unit) const {
    if (check_ != "abs_mean" || !has_only_buckets(unit)) {
      return {};
    }
    return relation_.starts_with('<') ? "at most" : relation_.starts_with('>') ? "at least" : "";
  }

  [[nodiscard]] std::optional<double> measure(StepView& step, const Unit& unit) const {
    const std::string_view bound = bound_of(unit);
    if (bound.empty()) {
      return step.measure(unit, reduction_);
    }
    const std::optional<AbsMeanBounds> bounds = abs_mean_bounds(step, unit);
    return bounds ? std::optional(bound == "at most" ? bounds->most : bounds->least) : std::nullopt;
  }

  void trigger(StepView& step, const Unit& unit, double value, std::int64_t steps) const {
    Finding finding;
    finding.tensor = std::string(unit.tensor());
    finding.worker = std::string(unit.worker());
    finding.check = check_;
    finding.value = value;
    finding.relation = relation_;
    finding.threshold = threshold_;
    finding.message = finding_text(finding, bound_of(unit));
    if (for_steps_ > 1) {
      finding.message += fmt::format(" for {} steps", steps);
      finding.details.emplace_back("steps", std::to_string(steps));
    }
    step.trigger(std::move(finding));
  }

  SelectionId tensors_;
  Reduction reduction_;
  std::string check_;
  std::string relation_;
  double threshold_;
  Mode mode_;
  std::int64_t for_steps_;
  std::map<std::tuple<std::string, std::string, Mode>, std::int64_t> steps_;  // successive ones that met the condition
};

}  // namespace

RuleDescription threshold_rule() {
  return {
      .name = "Threshold",
      .alias = "threshold",
      .summary = "a reduction of a tensor lies above or below a bound, for a number of steps",
      .condition =
          "per tensor, worker and mode: reduction(x) operator threshold at for_steps successive steps at which "
          "the tensor was evaluated\n"
          "The saved reduction if there is one, else that of the raw value; of abs_mean of a histogram, what its "
          "buckets say that it is at most (at least). NaN meets no condition.",
      .frameworks = "all",
      .parameters =
          {{.name = "reduction",
            .help =
                "what to measure: min, max, mean, std, variance, sum, prod, l1, l2, median, p99.9, rms, count, nan, "
                "inf, zero, zero_fraction and the like, also with abs_ in front",
            .required = true},
           {.name = "abs",
            .type = ParameterType::boolean,
            .default_text = "False",
            .help = "measure absolute values, as abs_ in front does"},
           {.name = "operator",
            .help = "how the measurement must compare with the threshold to trigger",
            .required = true,
            .choices = {"<", "<=", ">", ">=", "==", "!="}},
           {.name = "threshold", .type = ParameterType::number, .help = "the bound", .required = true},
           collection_names_parameter("one of the two is required"),
           tensor_regex_parameter("one of the two is required"),
           {.name = "mode",
            .help = "only steps of this mode; GLOBAL or not given: all, each mode counted by itself",
            .choices = {"TRAIN", "EVAL", "PREDICT", "GLOBAL"}},
           {.name = "for_steps",
            .type = ParameterType::integer,
            .default_text = "1",
            .help = "successive steps that must meet the condition",
            .at_least = 1}},
      .create = [](const Parameters& parameters) { return std::make_unique<Threshold>(parameters); },
      .saves =
          [](const Parameters& parameters) {
            const Reduction reduction = reduction_of(parameters);
            Collections all = selected(
                parameters, "threshold",
                can_be_saved(reduction) ? std::vector<std::string>{to_string(reduction)} : std::vector<std::string>{});
            if (const std::optional<Mode> mode = parse_mode(parameters.text("mode")); mode && *mode != Mode::global) {
              for (CollectionConfig& one : all) {
                one = only_in({*mode}, std::move(one));
              }
            }
            return all;
          },
  };
}

}  // namespace smd::detail::rules
