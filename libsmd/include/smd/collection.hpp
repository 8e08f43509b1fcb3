// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/export.hpp>
#include <smd/step.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace smd {

/// When tensors of a collection were to be saved in one mode: at a step in `save_steps`, or from `start_step`
/// (inclusive) to `end_step` (exclusive, none: no end) at multiples of `save_interval`. Mode steps.
struct SaveConfigMode {
  std::int64_t save_interval = 500;
  std::vector<std::int64_t> save_steps;
  std::int64_t start_step = 0;
  std::optional<std::int64_t> end_step;

  bool operator==(const SaveConfigMode&) const = default;
};

/// What of a collection's tensors was to be saved.
struct ReductionConfig {
  bool save_raw_tensor = false;
  bool save_shape = false;
  std::vector<std::string> reductions;  ///< As written: `min`, `abs_mean`, `l2_norm`, ….

  bool operator==(const ReductionConfig&) const = default;
};

/// A named set of tensors, as the job configured it: those it lists, and those in whose name a pattern is found.
/// Where the workers' files differ, the union of names and patterns.
struct Collection {
  std::string name;
  std::vector<std::string> tensor_names;   ///< Listed by name; byte order.
  std::vector<std::string> include_regex;  ///< Python `re.search` patterns, in the order written.
  std::optional<ReductionConfig> reduction_config;
  std::map<Mode, SaveConfigMode> save_config;  ///< Modes that the file names; empty if none.
  std::optional<bool> save_histogram;

  bool operator==(const Collection&) const = default;
};

}  // namespace smd
