// SPDX-License-Identifier: Apache-2.0
#include "built_in/zero_losses.hpp"

#include "framework/rule_run.hpp"
#include "text/escape.hpp"

#include <fmt/format.h>

namespace smd::detail::rules {

void ZeroLosses::see(StepView& step, const Unit& unit, double loss) {
  const RuleRun& run = RuleAccess::context(step).run();
  if (run.base().snapshot().layout().has_modes) {
    return;
  }
  Seen& seen = seen_[{std::string(unit.tensor()), std::string(unit.worker())}];
  seen.positive = seen.positive || loss > 0;
  if (loss != 0 || !seen.positive || seen.warned) {
    return;
  }
  seen.warned = true;
  step.warn(
      fmt::format("{} is exactly 0 at step {}, after positive losses: the Hugging Face Trainer logs 0 where the loss "
                  "is NaN or infinite (logging_nan_inf_filter)",
                  printable(unit.tensor()), unit.step().value));
}

}  // namespace smd::detail::rules
