// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

/// Groups the folders with checkpoints below a place into trials.
namespace smd::detail::layout {

/// Folders found by a search, as paths relative to its place; `""` is the place itself.
struct FoundCheckpoints {
  std::set<std::string, std::less<>> folders;    ///< Folders that hold a safetensors file.
  std::set<std::string, std::less<>> pipelines;  ///< Folders with a model_index.json: folders in them are components.

  /// Adds `folder` to the sets to which a file of that name assigns it.
  void take(std::string_view folder, std::string_view file);
};

/// Returns the trials, in byte order. A trial is a folder that holds tensors, or its parent if the folder is a
/// checkpoint among others or a component of a checkpoint or model. A folder with one of `runs` in it is a log
/// directory, which is no trial of checkpoints.
[[nodiscard]] std::vector<std::string> trials_of_checkpoints(const FoundCheckpoints& found,
                                                             const std::vector<std::string>& runs);

/// Returns whether a folder of that name is a checkpoint among others: whether it has a step, an epoch or a label.
[[nodiscard]] bool is_checkpoint_among_others(std::string_view name);

}  // namespace smd::detail::layout
