// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Which runs below a folder make one trial.
namespace smd::detail::layout {

/// Whether the last part of a path is a word for a part of the data, or ends in one: `train`, `loss_val`.
[[nodiscard]] bool ends_in_side(std::string_view path);

/// The trials among the runs below a folder, as paths relative to it (`""` is the folder itself), in byte order. A
/// folder is one trial if it holds event files itself, or if every run below it ends in a side and all have one parent;
/// what lies in a trial is no other one. `runs`: folders that hold event files. `others`: trials of other layouts,
/// which no such folder has below it.
[[nodiscard]] std::vector<std::string> trials_of_runs(std::span<const std::string> runs,
                                                      std::span<const std::string> others = {});

}  // namespace smd::detail::layout
