// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/step.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace smd {

/// What is saved of a collection's tensors: reductions, the tensor itself, its shape.
struct ReductionConfig {
  bool save_raw_tensor = false;
  bool save_shape = false;
  std::vector<std::string> reductions = {};  ///< As written: `min`, `abs_mean`, `l2_norm`, ….

  bool operator==(const ReductionConfig&) const = default;
};

/// When tensors are saved in one mode: at the steps in `save_steps`, and at multiples of `save_interval` from
/// `start_step` (inclusive) to `end_step` (exclusive; not set: no end). These are mode steps. With an interval below 1
/// only the steps in `save_steps` count.
struct SaveConfigMode {
  std::int64_t save_interval = 500;
  std::vector<std::int64_t> save_steps = {};
  std::int64_t start_step = 0;
  std::optional<std::int64_t> end_step = {};

  bool operator==(const SaveConfigMode&) const = default;
};

/// A named set of tensors, as the job configured it: the tensors that it lists, and those whose names match a pattern.
/// In a trial, if the workers' files differ, names and patterns are the union of theirs. In a hook, fields that are not
/// set, and modes that `save_config` does not name, take the hook's values.
struct Collection {
  std::string name = {};
  std::vector<std::string> tensor_names = {};   ///< Tensors listed by name, in byte order.
  std::vector<std::string> include_regex = {};  ///< Patterns of Python's `re.search`, in the order written.
  std::optional<ReductionConfig> reduction_config = {};
  std::map<Mode, SaveConfigMode> save_config = {};  ///< The modes that are configured; empty if none.
  std::optional<bool> save_histogram = {};          ///< Whether TensorBoard gets histograms of its tensors.

  bool operator==(const Collection&) const = default;
};

}  // namespace smd
