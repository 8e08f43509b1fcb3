// SPDX-License-Identifier: Apache-2.0
#include "built_in/builtin.hpp"
#include "built_in/losses.hpp"
#include "framework/evaluated_trial.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace smd::detail::rules {

namespace {

constexpr Reduction gradient_count{.kind = ReductionKind::count};
constexpr Reduction gradient_low{.kind = ReductionKind::percentile, .percent = 5};
constexpr Reduction gradient_high{.kind = ReductionKind::percentile, .percent = 95};

using Measurement = std::pair<Unit, double>;

class PoorWeightInitialization final : public Rule {
 public:
  explicit PoorWeightInitialization(const Parameters& parameters)
      : Rule(parameters),
        inputs_(select({.regex = parameters.list("activation_inputs_regex")})),
        gradients_(select({.collections = {"gradients"}})),
        losses_(select({.collections = {"losses"}}), std::nullopt) {}

  void set_required_tensors(StepNeeds& step) override {
    if (!is_training(step)) {
      return;
    }
    for (const Unit& unit : step.units(inputs_)) {
      need_variance(step, unit);
    }
    for (const Unit& unit : step.units(gradients_)) {
      step.computed(unit, gradient_count);
      step.computed(unit, gradient_high);
      step.computed(unit, gradient_low);
    }
    losses_.need_all(step);
  }

  void invoke_at_step(StepView& step) override {
    if (!is_training(step)) {
      return;
    }
    const bool variances = evaluate_variances(step);
    const bool gradients = evaluate_gradients(step);
    const bool losses = evaluate_losses(step);
    if (variances || gradients || losses) {
      step.evaluated();
      ++analysed_;
    }
    if (static_cast<double>(analysed_) >= parameters().number("steps")) {
      step.done();
    }
  }

 private:
  bool evaluate_variances(StepView& step) {
    std::map<std::string_view, std::vector<Measurement>> workers;
    for (const Unit& unit : step.units(inputs_)) {
      if (const std::optional<double> value = variance_of(step, unit); value && !std::isnan(*value)) {
        workers[unit.worker()].emplace_back(unit, *value);
      }
    }
    bool any = false;
    for (const auto& [worker, variances] : workers) {
      const auto most = std::ranges::max_element(variances, {}, &Measurement::second);
      if (variances.size() < 2 || most->second == 0) {
        continue;
      }
      any = true;
      const double least = std::ranges::min_element(variances, {}, &Measurement::second)->second;
      const double ratio = least == 0 ? std::numeric_limits<double>::infinity() : most->second / least;
      if (const double bound = parameters().number("threshold"); ratio > bound) {
        step.trigger(most->first, "variance_ratio", ratio, ">", bound);
      }
    }
    return any;
  }

  bool evaluate_gradients(StepView& step) {
    std::map<std::string_view, std::vector<Measurement>> workers;
    for (const Unit& unit : step.units(gradients_)) {
      const std::optional<double> number = step.computed(unit, gradient_count);
      const std::optional<double> top = step.computed(unit, gradient_high);
      const std::optional<double> bottom = step.computed(unit, gradient_low);
      if (number && top && bottom && *number >= 2 && !std::isnan(*top - *bottom)) {
        workers[unit.worker()].emplace_back(unit, *top - *bottom);
      }
    }
    const double bound = parameters().number("distribution_range");
    for (const auto& [worker, spreads] : workers) {
      if (const auto& [unit, spread] = *std::ranges::min_element(spreads, {}, &Measurement::second); spread < bound) {
        step.trigger(unit, "gradient_range", spread, "<", bound);
      }
    }
    return !workers.empty();
  }

  bool evaluate_losses(StepView& step) {
    const std::int64_t patience = parameters().integer("patience");
    bool any = false;
    for (const Unit& unit : losses_.units(step)) {
      const std::optional<double> loss = losses_.loss(step, unit);
      if (!loss) {
        continue;
      }
      any = true;
      // No loss is below a first one that is NaN.
      const std::pair of(std::string(unit.tensor()), std::string(unit.worker()));
      LossHistory& history = histories_.try_emplace(of, LossHistory{*loss}).first->second;
      history.observe(*loss, 0);
      if (history.stale >= patience) {
        step.trigger(unit, "loss_not_decreasing", static_cast<double>(history.stale),
                     ">=", static_cast<double>(patience));
      }
    }
    return any;
  }

  SelectionId inputs_;
  SelectionId gradients_;
  Losses losses_;
  std::int64_t analysed_ = 0;
  std::map<std::pair<std::string, std::string>, LossHistory> histories_;  // by tensor and worker
};

}  // namespace

RuleDescription poor_weight_initialization_rule() {
  return {
      .name = "PoorWeightInitialization",
      .summary = "early in training: uneven activation variances, narrow gradients or a stuck loss",
      .condition =
          "per worker, at the first steps (TRAIN or without a mode) that have anything of this:\n"
          "largest / smallest variance of activation inputs > threshold\n"
          "smallest (95th - 5th percentile) of gradients of two elements or more < distribution_range\n"
          "per loss: steps since the best one >= patience\n"
          "Saved variances (or std) are enough; gradients need raw values; of losses the saved mean is enough.",
      .frameworks = "deep learning",
      .collections = {"gradients", "losses"},
      .parameters = {{"activation_inputs_regex", Type::pattern_list, ".*relu_input",
                      "layers whose variances are compared"},
                     {"threshold", Type::number, "10.0", "greatest tolerated ratio of variances"},
                     {"distribution_range", Type::number, "0.001",
                      "least spread of gradients, from the 5th to the 95th percentile"},
                     at_least(1, {"patience", Type::integer, "5", "so many steps without a better loss trigger"}),
                     at_least(1, {"steps", Type::number, "10", "how many steps are analysed"})},
      .create = create<PoorWeightInitialization>,
      .saves =
          [](const Parameters& parameters) {
            const auto training = [](Collection one) { return only_in({Mode::train, Mode::global}, std::move(one)); };
            return Collections{training(reduced(collection_of("relu_input", parameters.list("activation_inputs_regex")),
                                                {"variance"})),
                               training(collection_of("gradients")), training(collection_of("losses"))};
          },
  };
}

}  // namespace smd::detail::rules
