// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/problem.hpp>

#include <string>

namespace smd::detail {

/// Returns the system's text for an `errno`.
[[nodiscard]] std::string error_text(int error);

/// Returns the problem, in words for a user, for an `errno` of opening, listing or reading `file`.
[[nodiscard]] Problem system_problem(int error, std::string file);

}  // namespace smd::detail
