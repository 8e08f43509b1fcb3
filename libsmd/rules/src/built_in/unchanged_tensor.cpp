// SPDX-License-Identifier: Apache-2.0
#include "built_in/builtin.hpp"
#include "built_in/scans.hpp"
#include "framework/rule_run.hpp"

#include <smd/reduction.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace smd::detail::rules {

namespace {

class UnchangedTensor final : public UnitRule {
 public:
  explicit UnchangedTensor(const Parameters& parameters)
      : UnitRule(parameters, required_selection(parameters)),
        num_steps_(static_cast<std::size_t>(parameters.integer("num_steps"))),
        tolerance_{parameters.number("rtol"), parameters.number("atol"), true} {}

  void summarize(RuleSummary& summary) override {
    if (summary.tensors_asked() > 0) {
      summary.explain(fmt::format("no tensor has raw values at num_steps ({}) steps of one mode", num_steps_));
    }
  }

 private:
  /// Returns the last `num_steps` steps at which the tensor was saved, up to the unit's; fewer at first.
  [[nodiscard]] std::span<const Unit> window(const StepTensors& step, const Unit& unit) const {
    const std::span<const Unit> all = step.series(unit);
    return all.last(std::min(all.size(), num_steps_));
  }

  void need(StepNeeds& step, const Unit& unit) override {
    const std::span<const Unit> past = window(step, unit);
    // While the window is not full, nothing is compared; this value is kept for later steps.
    for (const Unit& one : past.size() == num_steps_ ? past : past.last(1)) {
      RuleAccess::context(step).want_stored(one, true);
    }
  }

  void evaluate(StepView& step, const Unit& unit) override {
    const std::span<const Unit> past = window(step, unit);
    if (past.size() != num_steps_) {
      return;
    }
    std::vector<const TensorValue*> values;
    for (const Unit& one : past) {
      values.push_back(RuleAccess::context(step).stored(one));
      if (values.back() == nullptr) {
        return;
      }
    }
    step.evaluated();
    const TensorValue& now = *values.back();
    const std::string meaning = StepContext::meaning_of(unit);
    double largest = 0;
    for (std::size_t i = 0; i + 1 < values.size(); ++i) {
      if (values[i]->shape() != now.shape() || StepContext::meaning_of(past[i]) != meaning) {
        return;
      }
      const Distance difference = compare(now.view(), values[i]->view(), tolerance_);
      if (difference.far > 0) {
        return;
      }
      largest = std::max(largest, difference.largest);
    }
    constexpr Reduction nan{.kind = ReductionKind::nan};  // looked for once, and only if all else is close
    if (!parameters().boolean("equal_nan") && reduce(now.view(), std::span(&nan, 1)).front().real > 0) {
      return;
    }
    const bool relative = largest > tolerance_.atol;
    step.trigger(unit, "max_abs_change", largest,
                 relative ? fmt::format("within rtol {} x |b| +", tolerance_.rtol) : "<=", tolerance_.atol);
  }

  std::size_t num_steps_;
  Closeness tolerance_;
};

}  // namespace

RuleDescription unchanged_tensor_rule() {
  return {
      .name = "UnchangedTensor",
      .summary = "the last values of a tensor are close to each other",
      .condition =
          "per tensor and worker, a the value now and b each of the num_steps - 1 values saved before in the same "
          "mode: all |a - b| <= atol + rtol x |b| (numpy.allclose), and shapes, scales and zero points are the same\n"
          "Needs raw values.",
      .frameworks = "all",
      .parameters = {collection_names_parameter(),
                     tensor_regex_parameter(),
                     at_least(2, {"num_steps", Type::integer, "3", "values that must agree, the present one included"}),
                     at_least(0, {"rtol", Type::number, "1e-05", "relative tolerance"}),
                     at_least(0, {"atol", Type::number, "1e-08", "absolute tolerance"}),
                     {"equal_nan", Type::boolean, "False", "NaN is close to NaN"}},
      .create = create<UnchangedTensor>,
      .saves = [](const Parameters& parameters) { return selected(parameters, "unchanged_tensor"); },
  };
}

}  // namespace smd::detail::rules
