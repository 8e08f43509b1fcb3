// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/checkpoints/checkpoint_names.hpp"
#include "storage/storage.hpp"
#include "text/limits.hpp"
#include "types/outcome.hpp"
#include "types/problem_list.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Finds the folders of a place that hold files of checkpoints, by names alone, and chooses which checkpoints count,
/// and at which steps.
namespace smd::detail::layout {

/// The entries of a folder that matter.
struct CheckpointFolder {
  std::vector<storage::DirEntry> files;  ///< Named as files of tensors, shard indexes or trainer's state; by name.
  std::vector<std::string> folders;      ///< Names of folders in it; by name.
  bool is_pipeline = false;              ///< The folders in it are components of a model.
  std::vector<std::string> beside;       ///< Names of files that a Trainer saves beside the model.

  [[nodiscard]] bool has_trainer_state() const noexcept;
};

/// The folder of a place (`""`), the folders in it, and those in checkpoints' folders and components.
struct CheckpointFolders {
  std::map<std::string, CheckpointFolder, std::less<>> folders;  ///< By path; only `""` may be empty.
  ProblemList notes{limits::problems_per_trial};                 ///< Folders that cannot be listed, or are left out.

  [[nodiscard]] const CheckpointFolder* find(std::string_view path) const;
  /// Returns whether a plan may use the files of a folder. False: it only tells that they are not read.
  [[nodiscard]] bool may_be_read(std::string_view path) const;
};

/// Returns a problem if the place itself cannot be listed.
/// `place`: as in `plan_checkpoints`.
[[nodiscard]] Outcome<CheckpointFolders> list_checkpoint_folders(storage::Storage& storage, std::string_view place);

/// Files of one stem in one folder: one file, or shards.
struct TensorSet {
  std::string folder = {};
  std::string component = {};  ///< Path of the folder relative to its checkpoint's, without the step, ending with `/`;
                               ///< or empty.
  std::string stem;            ///< In a plan without the step, if its files at other steps have theirs there.
  std::string ending = {};     ///< Of its files: `.safetensors`.
  std::uint32_t of = 0;        ///< The number of shards by their names; 0 if the file is whole.
  std::vector<std::string> files = {};  ///< Their paths, by name. Empty if only the index exists.
  std::string index = {};               ///< The path of the shard index, or empty.
  bool main = false;                    ///< The result of `main_set`,
  bool own = false;                     ///< and whether the tensors are the model's: this one is main, or none is.

  /// What precedes the tensors' names if it is not the main set.
  [[nodiscard]] std::string prefix() const { return component + stem + "/"; }
};

struct Checkpoint {
  std::int64_t step = 0;
  std::string path;  ///< Of the folder or file; empty: the place itself.
  std::vector<TensorSet> sets;
  std::string trainer_state;  ///< The path of its trainer_state.json; empty if there is none.
};

struct CheckpointPlan {
  std::vector<Checkpoint> checkpoints;  ///< By step.
  StepUnit unit = StepUnit::step;
  std::optional<Problem> steps_repeat;      ///< Says that files state one step, so that the numbers in names count.
  std::vector<std::string> trainer_states;  ///< The paths of the trainer_state.json whose logs may count. The first
                                            ///< that can be read does: it has the greatest step.
  ProblemList remarks{limits::problems_per_trial};  ///< What is left out, and why.
};

/// What a file itself says of its checkpoint.
struct StatedStep {
  std::optional<std::int64_t> step;
  std::optional<std::int64_t> epoch;
  bool foreign = false;  ///< By its first bytes the file holds no tensors.
};

/// Tells what is in files: names alone do not.
struct FileContents {
  /// Returns the step of a trainer_state.json. Nullopt if it has none.
  std::function<std::optional<std::int64_t>(const std::string& path)> global_step;
  std::function<StatedStep(const std::string& path)> stated_step;
  /// Returns the files to which a shard index belongs.
  std::function<std::vector<std::string>(const std::string& index)> indexed_files;
};

/// `place`: the name of the place itself, which may have a step.
[[nodiscard]] CheckpointPlan plan_checkpoints(const CheckpointFolders& folders, std::string_view place,
                                              const FileContents& contents);

/// Returns a plan of one file only.
[[nodiscard]] CheckpointPlan plan_single_file(const std::string& file, const StatedStep& stated);

/// Returns which of a checkpoint's sets in one folder keeps its tensors' names without a prefix. Null if none does.
[[nodiscard]] const TensorSet* main_set(std::span<const TensorSet> sets,
                                        const std::function<bool(const TensorSet&)>& has_index);

}  // namespace smd::detail::layout
