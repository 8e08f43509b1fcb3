// SPDX-License-Identifier: Apache-2.0
#include "cli/operand_hints.hpp"

#include "cli/text.hpp"

#include <boost/filesystem/operations.hpp>
#include <optional>
#include <smd/remote.hpp>
#include <smd/trial.hpp>

namespace smd::tool {

namespace fs = boost::filesystem;

std::string trial_and_tensor(const std::string& path) {
  const fs::path whole = fs::path(path).lexically_normal();
  fs::path folder = whole.parent_path();
  boost::system::error_code error;
  while (!folder.empty() && !fs::is_directory(folder, error)) {
    folder = folder.parent_path();
  }
  if (is_remote_path(path) || folder.empty()) {
    return {};  // a name alone is more likely that of another folder
  }
  try {
    const std::optional<FoundTrial> found = find_trial(folder.string());
    if (!found || found->path != folder.string()) {
      return {};
    }
    const std::string name = whole.lexically_relative(folder).string();
    const std::string text = "is not there, but " + single_quoted(found->path) + " is a trial";
    const Trial trial = Trial::open(found->path);
    return trial.has_tensor(name) ? text + ": name the trial alone, and the tensor with -n " + single_quoted(name)
                                  : text + ", which has no tensor " + single_quoted(name) +
                                        did_you_mean(nearest_names(name, trial.tensor_names()));
  } catch (const Error&) {
    return {};  // opening it reports what is wrong
  }
}

}  // namespace smd::tool
