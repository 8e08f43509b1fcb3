// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "types/outcome.hpp"

#include <smd/problem.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace smd::detail::storage {

/// Returns the system's text for an `errno`.
[[nodiscard]] std::string error_text(int error);

/// Returns the problem, in words for a user, for an `errno` of opening, listing or reading `file`.
[[nodiscard]] Problem system_problem(int error, std::string file);

/// Returns the problem of a file that is longer than the caller allows.
[[nodiscard]] inline Problem too_long(std::string file, std::uint64_t most) {
  return in_file(damaged("is longer than " + std::to_string(most) + " bytes, the most allowed here"), std::move(file));
}

/// Returns whether a problem is that of `too_long`: a retry with a larger `most` may succeed.
[[nodiscard]] inline bool is_too_long(const Problem& problem, std::uint64_t most) {
  return problem == too_long(problem.file, most);
}

}  // namespace smd::detail::storage
