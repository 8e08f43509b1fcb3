// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/reduction_config.hpp>
#include <smd/save_config.hpp>
#include <smd/step.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace smd {

/// A named set of tensors, as the job configured it: those it lists, and those in whose name a pattern is found.
/// Read from a trial: where the workers' files differ, the union of names and patterns. Given to a hook: what is not
/// set is as the hook has it, modes that `save_config` does not name included.
struct Collection {
  std::string name = {};
  std::vector<std::string> tensor_names = {};   ///< Listed by name; byte order.
  std::vector<std::string> include_regex = {};  ///< Python `re.search` patterns, in the order written.
  std::optional<ReductionConfig> reduction_config = {};
  std::map<Mode, SaveConfigMode> save_config = {};  ///< Modes that are named; empty if none.
  std::optional<bool> save_histogram = {};

  bool operator==(const Collection&) const = default;
};

/// The same on the writing side.
using CollectionConfig = Collection;

}  // namespace smd
