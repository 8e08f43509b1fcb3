// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "types/outcome.hpp"

namespace smd::detail::storage {

/// Returns the problem of a file that is longer than the caller allows.
[[nodiscard]] inline Problem too_long(std::string file, std::uint64_t most) {
  return {ProblemKind::damaged,
          std::move(file),
          {},
          "is longer than " + std::to_string(most) + " bytes, the most allowed here"};
}

/// Returns whether a problem is that of `too_long`: a retry with a larger `most` may succeed.
[[nodiscard]] inline bool is_too_long(const Problem& problem, std::uint64_t most) {
  return problem == too_long(problem.file, most);
}

}  // namespace smd::detail::storage
