// SPDX-License-Identifier: Apache-2.0
#include "built_in/builtin.hpp"

#include <algorithm>

namespace smd::detail::rules {

namespace {

constexpr Reduction zeros{.kind = ReductionKind::zero};
constexpr Reduction elements{.kind = ReductionKind::count};

class AllZero final : public UnitRule {
 public:
  explicit AllZero(const Parameters& parameters) : UnitRule(parameters, required_selection(parameters)) {}

 private:
  void need(StepNeeds& step, const Unit& unit) override {
    step.computed(unit, zeros);
    step.computed(unit, elements);
    for (const std::string_view name : deciding(unit)) {
      step.saved(unit, name);
    }
  }

  void evaluate(StepView& step, const Unit& unit) override {
    if (const std::optional<double> percent = unit.has_value() ? of_value(step, unit) : of_reductions(step, unit)) {
      trigger_if(step, unit, "zero_percent", *percent, ">=", parameters().number("threshold"));
    }
  }

  /// Returns the first saved reductions that tell whether all elements are zero; none if the value was saved, or if
  /// another percentage is asked for. Other reductions can be 0 by underflow.
  [[nodiscard]] std::vector<std::string_view> deciding(const Unit& unit) const {
    if (unit.has_value() || parameters().number("threshold") != 100) {
      return {};
    }
    using Names = std::vector<std::string_view>;
    static const std::vector<Names> choices = {{"abs_max"}, {"min", "max"}, {"l1"}, {"abs_l1"}, {"abs_sum"}};
    const auto found = std::ranges::find_if(choices, [&](const Names& names) {
      return std::ranges::all_of(names, [&](std::string_view name) { return unit.has_reduction(name); });
    });
    return found == choices.end() ? Names() : *found;
  }

  [[nodiscard]] static std::optional<double> of_value(const StepView& step, const Unit& unit) {
    const std::optional<double> zero = step.computed(unit, zeros);
    const std::optional<double> count = step.computed(unit, elements);
    return zero && count ? std::optional(100 * *zero / *count) : std::nullopt;
  }

  [[nodiscard]] std::optional<double> of_reductions(const StepView& step, const Unit& unit) const {
    std::optional<double> percent;
    for (const std::string_view name : deciding(unit)) {
      const std::optional<double> value = step.saved(unit, name);
      if (!value) {
        return std::nullopt;
      }
      percent = *value == 0 && percent.value_or(100) == 100 ? 100 : 0;
    }
    return percent;
  }
};

}  // namespace

RuleDescription all_zero_rule() {
  return {
      .name = "AllZero",
      .summary = "all values, or a given percentage of them, are zero",
      .condition =
          "per tensor and worker: 100 x #{x : x = 0} / #x >= threshold\n"
          "Where the raw value was not saved and the threshold is 100, the first of these that was saved decides: "
          "abs_max; min and max; l1; abs_l1; abs_sum.",
      .frameworks = "all",
      .parameters = {collection_names_parameter(),
                     tensor_regex_parameter(),
                     {"threshold", Type::number, "100", "percentage of zeros that triggers"}},
      .create = create<AllZero>,
      .saves =
          [](const Parameters& parameters) {
            return selected(parameters, "all_zero", parameters.number("threshold") == 100 ? Texts{"abs_max"} : Texts());
          },
  };
}

}  // namespace smd::detail::rules
