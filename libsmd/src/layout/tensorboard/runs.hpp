// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Groups the runs below a folder into trials.
namespace smd::detail::layout {

/// Returns whether the last part of a path is a word for a part of the data, or ends in one: `train`, `loss_val`.
[[nodiscard]] bool ends_in_side(std::string_view path);

/// Returns the trials among the runs below a folder, as paths relative to it (`""` is the folder itself), in byte
/// order. A folder is one trial if it holds event files itself, or if every run below it ends in a side, all have one
/// parent, and no trial of another layout is below it. No trial contains another. `runs`: folders that hold event
/// files. `others`: trials of other layouts.
[[nodiscard]] std::vector<std::string> trials_of_runs(std::span<const std::string> runs,
                                                      std::span<const std::string> others = {});

}  // namespace smd::detail::layout
