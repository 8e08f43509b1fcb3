// SPDX-License-Identifier: Apache-2.0
#include "built_in/builtin.hpp"
#include "framework/step_context.hpp"
#include "text/mapped.hpp"
#include "text/words.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace smd::detail::rules {

namespace {

constexpr Reduction nan_count{.kind = ReductionKind::nan};
constexpr Reduction inf_count{.kind = ReductionKind::inf};
constexpr Reduction all_count{.kind = ReductionKind::count};

// The reductions that are NaN only if an element is.
constexpr std::array<std::string_view, 10> telling_nan = {"min",     "max",      "l1",      "l2",     "abs_min",
                                                          "abs_max", "abs_mean", "abs_sum", "abs_l1", "abs_l2"};
// These turn an infinity into NaN. Without prod, which overflows for finite values too.
constexpr std::array<std::string_view, 6> telling_more = {"mean", "std", "variance", "sum", "abs_std", "abs_variance"};

class ExplodingTensor final : public UnitRule {
 public:
  explicit ExplodingTensor(const Parameters& parameters) : UnitRule(parameters, selection_of(parameters, true)) {}

 private:
  void need(StepNeeds& step, const Unit& unit) override {
    step.computed(unit, nan_count);
    step.computed(unit, inf_count);
    step.computed(unit, all_count);
    if (unit.has_value()) {
      return;
    }
    for (const std::string_view name : unit.reductions()) {
      if (tells(name)) {
        step.saved(unit, name);
      }
    }
  }

  void evaluate(StepView& step, const Unit& unit) override {
    if (!unit.has_value()) {
      evaluate_reductions(step, unit);
    } else if (const std::optional<double> nan = step.computed(unit, nan_count)) {
      const double inf = only_nan_ ? 0 : step.computed(unit, inf_count).value_or(0);
      // Programs begin with an infinite `best_loss`. A later infinity counts, also if nothing was validated since.
      const bool start = inf == 1 && step.computed(unit, all_count) == 1.0 && step.series(unit).size() == 1 &&
                         contains(text::split_words(unit.tensor()), "best");
      trigger_if(step, unit, "non_finite", *nan + (start ? 0 : inf), ">", 0);
    }
  }

  [[nodiscard]] bool tells(std::string_view name) const {
    return contains(telling_nan, name) || (!only_nan_ && contains(telling_more, name));
  }

  void evaluate_reductions(StepView& step, const Unit& unit) const {
    std::map<std::string_view, double> saved;
    for (const std::string_view name : unit.reductions()) {
      if (const std::optional<double> value = tells(name) ? step.saved(unit, name) : std::nullopt) {
        saved.emplace(name, *value);
      }
    }
    // Other reductions are finite only if all elements are. Some writers leave NaN out of a least or greatest element.
    const bool sound = std::ranges::any_of(saved, [](const auto& one) {
      return std::isfinite(one.second) && !one.first.ends_with("min") && !one.first.ends_with("max");
    });
    const bool single = StepContext::saved_count(unit) == 1 ||
                        (saved.contains("min") && saved.contains("max") && saved.at("min") == saved.at("max"));
    double bad = 0;
    for (const auto& [name, value] : saved) {
      // These are quotients: 0 / 0 of no elements, and PyTorch's hook divides the squares of distances by n - 1.
      const bool spread = name.ends_with("std") || name.ends_with("variance");
      if (std::isnan(value) && ((sound && (spread || name.ends_with("mean"))) || (single && spread))) {
        continue;
      }
      step.evaluated();
      bad += std::isnan(value) || (!only_nan_ && std::isinf(value)) ? 1 : 0;
    }
    if (bad > 0) {
      step.trigger(unit, "non_finite_reduction", bad, ">", 0);
    }
  }

  bool only_nan_ = parameters().boolean("only_nan");
};

}  // namespace

RuleDescription exploding_tensor_rule() {
  return {
      .name = "ExplodingTensor",
      .summary = "a value holds NaN or an infinity",
      .condition =
          "per tensor and worker: #{x : x is NaN or, unless only_nan, infinite} > 0\n"
          "Where the raw value was not saved: the same of its saved reductions but prod and abs_prod; with only_nan "
          "only of those that do not turn an infinity into NaN. Passed over is a NaN std or variance if the saved "
          "shape has one element, or min equals max: PyTorch's hook divides by n - 1. So is a NaN mean, std or "
          "variance, also with abs_, if another saved one tells that all elements are finite: mean, sum, l1 or l2. "
          "So is an infinity of a single number with a word best, such as best_loss, if it is the first of its tensor: "
          "programs begin so.",
      .frameworks = "deep learning",
      .parameters = {collection_names_parameter("neither: every tensor"),
                     tensor_regex_parameter("neither: every tensor"),
                     {"only_nan", Type::boolean, "False", "look for NaN only"}},
      .create = create<ExplodingTensor>,
      .saves =
          [](const Parameters& parameters) {
            // The largest |x| is NaN or infinite if and only if an element is, and cannot overflow.
            return selected(parameters, "exploding_tensor", {"abs_max"}, "exploding_tensor");
          },
  };
}

}  // namespace smd::detail::rules
