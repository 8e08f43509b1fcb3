// SPDX-License-Identifier: Apache-2.0
#include "select/by.hpp"

#include "cli/option_hints.hpp"

#include <algorithm>

namespace smd::tool {

By By::from(const CommandLine& line, std::span<const std::string_view> words) {
  By by = {false, false, false};
  for (const std::string& name : line.values("by")) {
    if (!name.empty() && std::find(words.begin(), words.end(), name) == words.end()) {
      throw UsageError("--by: " + not_one_of(name, words));
    }
    by.tensor = by.tensor || name == "tensor";
    by.step = by.step || name == "step";
    by.worker = by.worker || name == "worker";
    by.row = by.row || name == "row";
  }
  if (by.row && !by.tensor) {
    throw UsageError("--by: rows are of a tensor: --by tensor,row");
  }
  return by;
}

}  // namespace smd::tool
