// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/trial.hpp>
#include <string_view>

#include "cli/progress.hpp"
#include "value_view.hpp"

namespace smd::tool::tensor {

/// Shows all values of a tensor, in the order of steps, if they are many numbers that the trial holds, and if the view
/// takes text: made by at most `jobs` threads. Returns whether it did.
[[nodiscard]] bool show_held_numbers(const Trial& trial, std::string_view tensor, unsigned jobs, ValueView& view,
                                     Progress& progress);

}  // namespace smd::tool::tensor
