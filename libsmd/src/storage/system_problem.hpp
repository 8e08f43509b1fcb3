// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/problem.hpp>
#include <string>

namespace smd::detail::storage {

/// An `errno` in the system's own words.
[[nodiscard]] std::string error_text(int error);

/// What an `errno` of opening, listing or reading `file` means, in words for a person.
[[nodiscard]] Problem system_problem(int error, std::string file);

}  // namespace smd::detail::storage
