// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Which runs beside each other are sides of one: `train` and `validation`, `loss_train` and `loss_val`.
namespace smd::detail::layout {

/// Returns whether a folder's name is a word for a part of the data, or ends in one: `train`, `loss_val`.
[[nodiscard]] bool ends_in_side(std::string_view name);

/// Returns those of the runs in one folder that are sides of one run: names that are a side alone; else the names, two
/// or more, that are equal without it, unless there are several such sets. Other runs do not matter, so that a run
/// keeps its path when another one appears beside it. `runs`: names that end in a side.
[[nodiscard]] std::vector<std::string> sides_of_one(std::span<const std::string> runs);

}  // namespace smd::detail::layout
