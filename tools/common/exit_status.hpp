// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace smd::tool {

/// What a command's exit status says. The numbers are part of the command-line contract.
enum class ExitStatus : std::uint8_t {
  yes = 0,                ///< Done, found, no rule triggered, condition holds.
  no = 1,                 ///< Nothing selected, a named thing absent, a rule triggered.
  usage = 2,              ///< An option, pattern, rule or parameter is wrong.
  unreadable = 3,         ///< Cannot read or write: no trial, no access, no space.
  damaged = 4,            ///< Damaged data; the readable rest was printed.
  nothing_evaluated = 5,  ///< A rule had nothing to look at.
  no_more_data = 6,       ///< The job ended before the step came.
  timed_out = 124,        ///< Gave up waiting.
};

/// The status that stands when both apply: 2, 3, 4, 1, 5, 6, 124, 0 in this order (124 only if none of 2 to 4 does; a
/// definite answer beats a time-out).
[[nodiscard]] ExitStatus combine(ExitStatus a, ExitStatus b) noexcept;

}  // namespace smd::tool
