// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/trial.hpp>
#include <span>
#include <string>
#include <string_view>

#include "cli/diagnostics.hpp"
#include "select/selection.hpp"

namespace smd::tool {

/// Why a selection holds nothing.
struct NothingSelected {
  std::string_view tag;
  std::string text;
};

/// Explains, with numbers: which patterns match nothing, and the nearest names; or how many tensors match, and at which
/// steps, in which modes and by which workers they were saved. Reads the rest of the trial.
/// @throws InvalidArgument, MatchLimit as `Trial::tensor_names`.
[[nodiscard]] NothingSelected why_nothing(Trial& trial, const SelectionOptions& options);

/// Reports it, unless something was reported before; status 1. With -q, where only the status matters, nothing is read.
void say_nothing_selected(Trial& trial, const SelectionOptions& options, Diagnostics& messages);

/// `9 steps, 0 to 38 (train: 6 steps, 0 to 25; eval: 3 steps, 0 to 10)`: steps by their global numbers, then by those
/// of the modes; `6 steps, 0 to 31 (train 0 to 25)` if one mode has all. Empty if there are none.
[[nodiscard]] std::string steps_and_modes(std::span<const SelectedStep> steps);

/// The same for all steps of the trial, complete or not: reads the rest of it.
[[nodiscard]] std::string all_steps_and_modes(Trial& trial);

}  // namespace smd::tool
