// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/problem.hpp>

#include <string>

namespace smd::detail::hook {

/// The problem of writing `file` that an errno value stands for.
[[nodiscard]] Problem write_problem(int error, std::string file);

}  // namespace smd::detail::hook
