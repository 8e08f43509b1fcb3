// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <smd/trial.hpp>
#include <span>
#include <string_view>
#include <vector>

#include "options.hpp"
#include "paired_steps.hpp"

namespace smd::tool::diff {

/// What was saved of one tensor at one step by one worker, in both trials or in one.
struct PairedEntry {
  std::optional<TensorEntry> a;
  std::optional<TensorEntry> b;
  std::optional<GlobalStep> step;  ///< Of the pair of steps, also where the trial lacks the tensor.
  std::optional<GlobalStep> step_b;

  [[nodiscard]] std::string_view tensor() const noexcept { return a ? a->tensor : b->tensor; }
  /// A's, which B's is compared with: of the same name if all workers were asked for, else each trial's first.
  [[nodiscard]] std::string_view worker() const noexcept { return a ? a->worker : b->worker; }
  [[nodiscard]] GlobalStep place() const noexcept { return step ? *step : *step_b; }
};

/// Of steps that stand at the same place, in the order tensor, worker.
[[nodiscard]] std::vector<PairedEntry> pair_entries(const Side& a, const Side& b, std::span<const PairedStep> steps);

}  // namespace smd::tool::diff
