// SPDX-License-Identifier: Apache-2.0
#include "built_in/builtin.hpp"
#include "built_in/phases.hpp"

namespace smd::detail::rules {

namespace {

class Overtraining final : public PhaseRule {
 public:
  explicit Overtraining(const Parameters& parameters) : PhaseRule(parameters) { look_only_at_losses(); }

 private:
  struct BothSides {
    LossHistory training;
    LossHistory validation;
  };

  std::optional<std::vector<Finding>> evaluate(const Phase& phase) override {
    std::vector<Finding> findings;
    const auto observe = [&](LossHistory& side, double loss, std::string_view check, std::int64_t patience) {
      side.observe(loss, parameters().number("delta"));
      if (side.stale >= patience) {
        findings.push_back(finding_of(phase.tensors.validation, check, static_cast<double>(side.stale),
                                      ">=", static_cast<double>(patience)));
      }
    };
    BothSides& sides = sides_[key_of(phase)];
    measured().add(phase.tensors.validation, "validation value", "no better than any other", phase.validation);
    if (phase.training) {
      measured().add(phase.tensors.training, "training value", "no better than any other", *phase.training);
      observe(sides.training, *phase.training, "train", parameters().integer("patience_train"));
    }
    observe(sides.validation, phase.validation, "validation", parameters().integer("patience_validation"));
    return findings;
  }

  std::map<TensorPair, BothSides> sides_;
};

}  // namespace

RuleDescription overtraining_rule() {
  return {
      .name = "Overtraining",
      .summary = "the training or the validation loss no longer improves",
      .condition =
          "per tensor and side, each time a validation phase closes: observations since the best one >= patience_train "
          "(patience_validation)\n"
          "An observation is the mean training loss since the phase before, or the mean validation loss of the phase; "
          "better is loss < best and best - loss >= delta. Phases, and pairs of tensors where there are no modes, are "
          "those of Overfit.",
      .frameworks = "all",
      .collections = {"losses"},
      .parameters = {at_least(1, {"patience_train", Type::integer, "5",
                                  "so many training losses in succession that are no better trigger"}),
                     at_least(1, {"patience_validation", Type::integer, "10",
                                  "so many validation losses in succession that are no better trigger"}),
                     at_least(0, {"delta", Type::number, "0.01", "least improvement"}), pairs_parameter()},
      .create = create<Overtraining>,
      .saves = saves_always(only_in({Mode::train, Mode::eval, Mode::global}, collection_of("losses"))),
  };
}

}  // namespace smd::detail::rules
