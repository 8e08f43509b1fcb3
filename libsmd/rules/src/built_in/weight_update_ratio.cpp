// SPDX-License-Identifier: Apache-2.0
#include "built_in/builtin.hpp"
#include "built_in/scans.hpp"
#include "framework/rule_run.hpp"
#include "text/mapped.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace smd::detail::rules {

namespace {

class WeightUpdateRatio final : public UnitRule {
 public:
  explicit WeightUpdateRatio(const Parameters& parameters) : UnitRule(parameters, {.collections = {"weights"}}) {}

  void summarize(RuleSummary& summary) override {
    if (summary.tensors_asked() > 0) {
      summary.explain("no weight has raw values at two steps of training to compare");
    }
    measured_.summarize(summary);
    // What changed is NaN. If no weight changes, the losses tell.
    const std::size_t changed = std::erase_if(norms_, [](const auto& one) { return std::isnan(one.second.first); });
    std::erase_if(norms_, [](const auto& one) { return one.second.second < 3; });
    if (changed > 0 && !norms_.empty()) {
      auto same = mapped(norms_, [](const auto& one) { return std::string_view(one.first.first); });
      sort_each_once(same);
      summary.warn("other weights change, but by their saved histograms these never do; are they frozen? " +
                   first_names(same));
    }
  }

 private:
  [[nodiscard]] bool looks_at(const StepTensors& step) const override { return is_training(step); }

  /// Biases may stay 0, and buffers are no parameters. Norms that were saved without histograms are rounded to float32.
  [[nodiscard]] static bool has_norm(const Unit& unit) {
    return !unit.has_value() && unit.has_reduction(saved_histogram) && unit.tensor().ends_with("weight");
  }

  void need(StepNeeds& step, const Unit& unit) override {
    step.value(unit, StepNeeds::Keep::for_later_steps);
    if (has_norm(unit)) {
      RuleAccess::context(step).want(unit, StepContext::saved_position(unit, "l2"), RecordRequest::Kind::aside);
    }
    if (const std::optional<Unit> before = reference(step, unit)) {
      step.value(*before, StepNeeds::Keep::for_later_steps);
    }
  }

  /// Returns, without `num_steps`, the value saved last before the unit; with it, the earliest that was saved at most
  /// that many mode steps ago. Nullopt if nothing was saved then.
  [[nodiscard]] std::optional<Unit> reference(const StepTensors& step, const Unit& unit) const {
    const bool last = !parameters().has("num_steps");
    std::span<const Unit> all = last ? step.series(unit) : step.series_since_restart(unit);
    all = all.first(all.size() - 1);
    if (last) {
      return all.empty() ? std::nullopt : std::optional(all.back());
    }
    const std::int64_t now = unit.mode_step().value;
    const std::int64_t earliest = now - std::min(parameters().integer("num_steps"), now);
    const auto first =
        std::ranges::partition_point(all, [&](const Unit& past) { return past.mode_step().value < earliest; });
    return first == all.end() ? std::nullopt : std::optional(*first);
  }

  void evaluate(StepView& step, const Unit& unit) override {
    if (has_norm(unit)) {
      const Slot* const l2 =
          RuleAccess::context(step).asked(unit, StepContext::saved_position(unit, "l2"), RecordRequest::Kind::aside);
      if (l2 != nullptr && l2->have_value) {
        const std::pair of(std::string(unit.tensor()), std::string(unit.worker()));
        auto& [norm, steps] = norms_.try_emplace(of, l2->number, 0).first->second;
        norm = l2->number == norm ? norm : std::numeric_limits<double>::quiet_NaN();
        ++steps;
      }
      return;
    }
    const TensorValue* const now = step.value(unit);
    const std::optional<Unit> before = reference(step, unit);
    const TensorValue* const then = before ? step.value(*before) : nullptr;
    if (now == nullptr || then == nullptr || now->shape() != then->shape() ||
        StepContext::meaning_of(unit) != StepContext::meaning_of(*before)) {
      return;
    }
    const UpdateNorms norms = update_norms(now->view(), then->view());
    const double ratio = norms.update / (norms.reference + parameters().number("epsilon"));
    // NaN of finite values: both norms are beyond double's range, or both are 0 and so is epsilon. ExplodingTensor
    // reports other values.
    if (!std::isnan(ratio) || (is_finite(now->view()) && is_finite(then->view()))) {
      measured_.add(unit.tensor(), "ratio", "not compared, though all values are finite", ratio);
    }
    if (const double large = parameters().number("large_threshold"); ratio > large) {
      Finding finding = finding_of(unit, "large", ratio, ">", large);
      if (norms.reference == 0) {
        finding.message = fmt::format("{}; it was all 0 at step {}: was it initialised with zeros?",
                                      finding_text(finding), before->step().value);
      }
      step.trigger(std::move(finding));
    } else {
      trigger_if(step, unit, "small", ratio, "<", parameters().number("small_threshold"));
    }
  }

  NanCounts measured_;
  /// By weight of which only histograms were saved, and worker: their l2 norm, whose last digits any update changes, or
  /// NaN once it changed; and at how many steps it was saved.
  std::map<std::pair<std::string, std::string>, std::pair<double, std::size_t>> norms_;
};

}  // namespace

RuleDescription weight_update_ratio_rule() {
  return {
      .name = "WeightUpdateRatio",
      .summary = "weights change by too much or too little",
      .condition =
          "per tensor and worker at TRAIN and GLOBAL steps, w the value now and r the reference, an earlier one of the "
          "mode: ratio = ||w - r|| / (||r|| + epsilon), Euclidean norms; none if the shapes differ\n"
          "large: ratio > large_threshold; else small: ratio < small_threshold\n"
          "Needs raw values.",
      .frameworks = "deep learning",
      .collections = {"weights"},
      .parameters = {at_least(1, {"num_steps", Type::integer, no_default,
                                  "mode steps to look back at most, to the earliest value saved there, not beyond a "
                                  "restart at which they begin again; not given: to the value saved last before"}),
                     {"large_threshold", Type::number, "10.0", "ratios above this trigger"},
                     {"small_threshold", Type::number, "0.00000001", "ratios below this trigger"},
                     at_least(0, {"epsilon", Type::number, "0.000000001", "added to the divisor"})},
      .create = create<WeightUpdateRatio>,
      .saves =
          [](const Parameters& parameters) {
            Collection weights = only_in({Mode::train, Mode::global}, collection_of("weights"));
            if (parameters.has("num_steps")) {  // a larger interval leaves nothing to compare with
              weights.save_config[Mode::train].save_interval = parameters.integer("num_steps");
              weights.save_config[Mode::global] = weights.save_config[Mode::train];
            }
            return Collections{std::move(weights)};
          },
  };
}

}  // namespace smd::detail::rules
