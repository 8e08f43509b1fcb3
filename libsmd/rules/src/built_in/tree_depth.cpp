// SPDX-License-Identifier: Apache-2.0
#include "built_in/builtin.hpp"

#include <cmath>
#include <limits>

namespace smd::detail::rules {

namespace {

constexpr Reduction largest_node{.kind = ReductionKind::max};

/// Returns floor(log2(id)), exactly; 0 for 0.
double depth_of(double largest_id) {
  if (largest_id > 0) {
    return std::logb(largest_id);
  }
  return largest_id == 0 ? 0 : std::numeric_limits<double>::quiet_NaN();
}

class TreeDepth final : public UnitRule {
 public:
  explicit TreeDepth(const Parameters& parameters) : UnitRule(parameters, {.names = {"trees/Node"}}) {}

 private:
  void need(StepNeeds& step, const Unit& unit) override { step.measure(unit, largest_node); }

  void evaluate(StepView& step, const Unit& unit) override {
    if (const std::optional<double> largest = step.measure(unit, largest_node)) {
      trigger_if(step, unit, "depth", depth_of(*largest), ">", parameters().number("depth"));
    }
  }
};

}  // namespace

RuleDescription tree_depth_rule() {
  return {
      .name = "TreeDepth",
      .summary = "a tree is deeper than a limit",
      .condition =
          "per worker: floor(log2(largest of trees/Node)) > depth, with 0 for a lone root\n"
          "Of a lopsided tree this is a lower bound of its depth. The saved max is enough.",
      .frameworks = "XGBoost",
      .parameters = {{"depth", Type::number, "4", "greatest tolerated depth"}},
      .create = create<TreeDepth>,
      .saves = saves_always(collection_of("trees")),
  };
}

}  // namespace smd::detail::rules
