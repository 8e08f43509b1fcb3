// SPDX-License-Identifier: Apache-2.0
#include "select/by.hpp"

#include "cli/option_hints.hpp"

namespace smd::tool {

By By::from(const CommandLine& line) {
  By by = {false, false, false};
  for (const std::string& name : line.values("by")) {
    if (name == "tensor") {
      by.tensor = true;
    } else if (name == "step") {
      by.step = true;
    } else if (name == "worker") {
      by.worker = true;
    } else if (!name.empty()) {
      throw UsageError("--by: " + not_one_of(name, by_words));
    }
  }
  return by;
}

}  // namespace smd::tool
