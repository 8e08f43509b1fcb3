// SPDX-License-Identifier: Apache-2.0
#include "built_in/builtin.hpp"
#include "framework/saves.hpp"

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

class TreeDepth final : public Rule {
 public:
  explicit TreeDepth(const Parameters& parameters)
      : Rule(parameters), nodes_(select({.names = {"trees/Node"}})), most_(parameters.number("depth")) {}

  void set_required_tensors(StepNeeds& step) override {
    for (const Unit& unit : step.units(nodes_)) {
      step.measure(unit, largest_node);
    }
  }

  void invoke_at_step(StepView& step) override {
    for (const Unit& unit : step.units(nodes_)) {
      const std::optional<double> largest = step.measure(unit, largest_node);
      if (!largest) {
        continue;
      }
      step.evaluated();
      if (const double depth = depth_of(*largest); depth > most_) {
        step.trigger(unit, "depth", depth, ">", most_);
      }
    }
  }

 private:
  SelectionId nodes_;
  double most_;
};

}  // namespace

RuleDescription tree_depth_rule() {
  return {
      .name = "TreeDepth",
      .alias = "tree_depth",
      .summary = "a tree is deeper than a limit",
      .condition =
          "per worker: floor(log2(largest of trees/Node)) > depth, with 0 for a lone root\n"
          "Of a lopsided tree this is a lower bound of its depth. The saved max is enough.",
      .frameworks = "XGBoost",
      .collections = {},
      .parameters =
          {{.name = "depth", .type = ParameterType::number, .default_text = "4", .help = "greatest tolerated depth"}},
      .create = [](const Parameters& parameters) { return std::make_unique<TreeDepth>(parameters); },
      .saves = [](const Parameters& /*parameters*/) { return Collections{collection_of("trees")}; },
  };
}

}  // namespace smd::detail::rules
