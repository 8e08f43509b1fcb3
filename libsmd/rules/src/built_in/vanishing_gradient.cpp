// SPDX-License-Identifier: Apache-2.0
#include "built_in/builtin.hpp"

namespace smd::detail::rules {

RuleDescription vanishing_gradient_rule() {
  return {
      .name = "VanishingGradient",
      .summary = "the mean absolute gradient is close to zero",
      .condition =
          "per tensor and worker: mean(|g|) < threshold\n"
          "The saved abs_mean is enough, else the raw value is read. Of a histogram: what the mean is at most, with "
          "each element at the edge of its bucket that is farther from 0, and edges cut to min and max.",
      .frameworks = "deep learning",
      .collections = {"gradients"},
      .parameters = {{"threshold", Type::number, "0.0000001", "mean absolute gradients below this trigger"}},
      .create =
          [](const Parameters& parameters) {
            constexpr Reduction abs_mean{.kind = ReductionKind::mean, .abs = true};
            return make_threshold_rule(parameters, {.collections = {"gradients"}}, abs_mean, "<");
          },
      .saves = saves_always(reduced(collection_of("gradients"), {"abs_mean"})),
  };
}

}  // namespace smd::detail::rules
