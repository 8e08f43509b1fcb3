// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/storage.hpp"
#include "types/outcome.hpp"
#include "types/problem_list.hpp"

#include <smd/limits.hpp>

#include <map>
#include <string>
#include <string_view>
#include <vector>

/// Finds the folders of a place that hold files of checkpoints, by names alone.
namespace smd::detail::layout {

/// The entries of a folder that matter.
struct CheckpointFolder {
  std::vector<storage::DirEntry> files;  ///< Named as files of tensors, shard indexes or trainer's state; by name.
  std::vector<std::string> folders;      ///< Names of folders in it; by name.
  bool is_pipeline = false;              ///< The folders in it are components of a model.
  std::vector<std::string> beside;       ///< Names of files that a Trainer saves beside the model.

  [[nodiscard]] bool has_trainer_state() const noexcept;
};

/// The folder of a place (`""`), the folders in it, and the folders in these that may be components of a checkpoint.
struct CheckpointFolders {
  std::map<std::string, CheckpointFolder, std::less<>> folders;  ///< By path; only `""` may be empty.
  ProblemList notes{limits::problems_per_trial};                 ///< Folders that cannot be listed.

  [[nodiscard]] const CheckpointFolder* find(std::string_view path) const;
};

/// Returns a problem if the place itself cannot be listed.
[[nodiscard]] Outcome<CheckpointFolders> list_checkpoint_folders(storage::Storage& storage);

}  // namespace smd::detail::layout
