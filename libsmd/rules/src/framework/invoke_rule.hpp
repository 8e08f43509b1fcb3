// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/evaluator.hpp>

#include <chrono>
#include <functional>

namespace smd::detail::rules {

/// The clock by which an evaluation waits, so that tests can set the time.
using SteadyClock = std::function<std::chrono::steady_clock::time_point()>;

/// The public `invoke_rule`, with a clock of the caller's choice.
RuleResult invoke_rule_by(const SteadyClock& now, Rule& rule, GlobalStep start_step, std::optional<GlobalStep> end_step,
                          bool raise_eval_cond, const WaitOptions& wait, WaitOutcome* outcome);

}  // namespace smd::detail::rules
