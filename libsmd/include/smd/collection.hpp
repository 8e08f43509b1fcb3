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

/// A named set of tensors, as the job configured it: the tensors that it lists, and those whose names match a pattern.
/// In a trial, if the workers' files differ, names and patterns are the union of theirs. In a hook, fields that are not
/// set, and modes that `save_config` does not name, take the hook's values.
struct Collection {
  std::string name = {};
  std::vector<std::string> tensor_names = {};   ///< Tensors listed by name, in byte order.
  std::vector<std::string> include_regex = {};  ///< Patterns of Python's `re.search`, in the order written.
  std::optional<ReductionConfig> reduction_config = {};
  std::map<Mode, SaveConfigMode> save_config = {};  ///< The modes that are configured; empty if none.
  std::optional<bool> save_histogram = {};

  bool operator==(const Collection&) const = default;
};

/// A collection on the writing side.
using CollectionConfig = Collection;

}  // namespace smd
