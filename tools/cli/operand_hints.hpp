// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace smd::tool {

/// For a local path that does not exist, but joins the names of a trial and of a tensor: a clause that says so and
/// leaves out the path. Empty for others.
[[nodiscard]] std::string trial_and_tensor(const std::string& path);

}  // namespace smd::tool
