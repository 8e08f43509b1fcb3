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

/// Which folders of a place hold files of checkpoints, by names alone.
namespace smd::detail::layout {

/// What matters of one folder.
struct CheckpointFolder {
  std::vector<storage::DirEntry> files;  ///< Called safetensors files, indexes of shards, the trainer's state; by name.
  std::vector<std::string> folders;      ///< Names of folders in it; by name.

  [[nodiscard]] bool has_trainer_state() const noexcept;
};

/// A place's own folder, `""`, those in it, and those in these that may be components of a checkpoint.
struct CheckpointFolders {
  std::map<std::string, CheckpointFolder, std::less<>> folders;  ///< By path; none that holds nothing.
  ProblemList notes{limits::problems_per_trial};                 ///< Folders that cannot be listed.

  [[nodiscard]] const CheckpointFolder* find(std::string_view path) const;
};

/// A problem if the place itself cannot be listed.
[[nodiscard]] Outcome<CheckpointFolders> list_checkpoint_folders(storage::Storage& storage);

/// Whether a place holds checkpoints: itself or one of its folders has a file called `*.safetensors`, or a folder in
/// one of its folders whose name tells a step, an epoch or a label.
[[nodiscard]] bool holds_checkpoints(storage::Storage& storage);

}  // namespace smd::detail::layout
