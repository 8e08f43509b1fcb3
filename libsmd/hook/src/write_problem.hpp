// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/problem.hpp>

#include <string>

namespace smd::detail::hook {

/// Returns the problem of writing `file` for an errno value.
[[nodiscard]] Problem write_problem(int error, std::string file);

}  // namespace smd::detail::hook
