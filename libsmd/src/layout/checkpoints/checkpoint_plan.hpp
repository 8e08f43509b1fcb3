// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/checkpoints/checkpoint_folders.hpp"
#include "layout/checkpoints/checkpoint_names.hpp"
#include "types/problem_list.hpp"

#include <smd/limits.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Which checkpoints of a place count, at which steps, and what is left out.
namespace smd::detail::layout {

/// A file that is called a safetensors file.
struct TensorFile {
  std::string path;
  bool link = false;
};

/// Files of one stem in one folder: one file, or shards.
struct TensorSet {
  std::string folder;
  std::string component;  ///< Path of the folder below its checkpoint's with `/` behind it, or empty.
  std::string stem;
  std::uint32_t of = 0;           ///< Of shards: how many there should be; else 0.
  std::vector<TensorFile> files;  ///< By name. None: only their index is there.
  std::string index;              ///< The path of the index of shards, if there is one.
};

struct Checkpoint {
  std::int64_t step = 0;
  std::string path;  ///< The folder's, or the file's; empty: the place itself.
  std::vector<TensorSet> sets;
  std::string trainer_state;  ///< The path of its trainer_state.json, if there is one.
};

struct CheckpointPlan {
  std::vector<Checkpoint> checkpoints;  ///< By step.
  StepUnit unit = StepUnit::step;
  std::string trainer_state;                        ///< The path of the one whose log counts; empty: none.
  ProblemList remarks{limits::problems_per_trial};  ///< What is left out, and why.
};

/// The step that a trainer_state.json is of; nullopt if it tells none.
using GlobalStepOf = std::function<std::optional<std::int64_t>(const std::string& path)>;

/// `place`: the name of the place itself, which may tell a step.
[[nodiscard]] CheckpointPlan plan_checkpoints(const CheckpointFolders& folders, std::string_view place,
                                              const GlobalStepOf& global_step);

/// The same of one file, whatever lies beside it.
[[nodiscard]] CheckpointPlan plan_single_file(const std::string& file);

/// Which of a checkpoint's sets in one folder bears its tensors' names as they are; nullopt if none does.
/// `has_whole_index`: sets of shards whose index is theirs.
[[nodiscard]] std::optional<std::size_t> main_set(const std::vector<const TensorSet*>& sets,
                                                  const std::vector<bool>& has_whole_index);

}  // namespace smd::detail::layout
