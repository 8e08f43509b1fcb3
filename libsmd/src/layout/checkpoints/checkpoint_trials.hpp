// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

/// Which folders with checkpoints below a place make one trial.
namespace smd::detail::layout {

/// What a search found, as paths relative to its place; `""` is the place itself.
struct FoundCheckpoints {
  std::set<std::string, std::less<>> folders;    ///< Those that hold a safetensors file.
  std::set<std::string, std::less<>> pipelines;  ///< Those that say that folders in them are components of one model.

  /// Notes what a folder's file of that name tells.
  void take(std::string_view folder, std::string_view file);
};

/// The trials, in byte order: a folder that holds tensors, or the one around it if it is a checkpoint of several, or a
/// component of a checkpoint or model. A folder with one of `runs` in it is a log directory, and none of them.
[[nodiscard]] std::vector<std::string> trials_of_checkpoints(const FoundCheckpoints& found,
                                                             const std::vector<std::string>& runs);

/// Whether a folder of that name is a checkpoint among others.
[[nodiscard]] bool is_checkpoint_among_others(std::string_view name);

}  // namespace smd::detail::layout
