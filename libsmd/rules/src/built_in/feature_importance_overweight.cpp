// SPDX-License-Identifier: Apache-2.0
#include <smd/elements.hpp>
#include "built_in/builtin.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

namespace smd::detail::rules {

namespace {

class FeatureImportanceOverweight final : public Rule {
 public:
  explicit FeatureImportanceOverweight(const Parameters& parameters)
      : Rule(parameters), features_(select({.regex = {parameters.text("tensor_regex")}})) {}

  void set_required_tensors(StepNeeds& step) override { need_values(step, {features_}); }

  void summarize(RuleSummary& summary) override { measured_.summarize(summary); }

  void invoke_at_step(StepView& step) override {
    std::map<std::string_view, Importances> workers;
    for (const Unit& unit : step.units(features_)) {
      if (const TensorValue* const value = step.value(unit)) {
        workers[unit.worker()].add(unit, to_doubles(value->view()));
      }
    }
    const auto count = static_cast<std::uint64_t>(parameters().integer("nfeatures"));
    for (auto& [worker, importances] : workers) {
      if (const std::optional<double> share = importances.share_of_largest(count)) {
        measured_.add(importances.of_largest->tensor(), "share", "not compared", *share);
        trigger_if(step, *importances.of_largest, "share", *share, ">", parameters().number("threshold"));
      }
    }
  }

 private:
  struct Importances {
    std::vector<double> all;
    std::optional<Unit> of_largest;
    double largest = 0;

    void add(const Unit& unit, const std::vector<double>& values) {
      for (const double value : values) {
        if (!of_largest || value > largest) {
          of_largest = unit;
          largest = value;
        }
      }
      all.insert(all.end(), values.begin(), values.end());
    }

    /// Returns the share of the `count` largest; nullopt if the total is NaN or not above 0. Adds the largest first, so
    /// that the share is exactly 1 if `count` covers all features.
    [[nodiscard]] std::optional<double> share_of_largest(std::uint64_t count) {
      if (std::ranges::any_of(all, [](double one) { return std::isnan(one); })) {
        return std::nullopt;
      }
      std::ranges::sort(all, std::greater<>());
      double total = 0;
      double top = 0;
      for (std::size_t i = 0; i < all.size(); ++i) {
        total += all[i];
        top = i < count ? total : top;
      }
      return total > 0 ? std::optional(top / total) : std::nullopt;
    }
  };

  SelectionId features_;
  NanCounts measured_;
};

}  // namespace

RuleDescription feature_importance_overweight_rule() {
  return {
      .name = "FeatureImportanceOverweight",
      .summary = "a few features hold most of the importance",
      .condition =
          "per worker, over all elements of all matching tensors: sum of the nfeatures largest / sum of all > "
          "threshold\n"
          "Needs raw values and a sum above 0.",
      .frameworks = "XGBoost",
      .parameters = {{"threshold", Type::number, "0.8", "greatest tolerated share of the largest features"},
                     at_least(1, {"nfeatures", Type::integer, "3", "how many of the largest features count"}),
                     {"tensor_regex", Type::pattern, ".*feature_importance/weight", "tensors of feature importance"}},
      .create = create<FeatureImportanceOverweight>,
      .saves = saves_matching("feature_importance", &Parameters::text, "tensor_regex"),
  };
}

}  // namespace smd::detail::rules
