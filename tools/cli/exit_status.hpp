// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace smd::tool {

/// What a command's exit status says. The numbers are part of the command-line contract.
enum class ExitStatus : std::uint8_t {
  yes = 0,                ///< Done, found, no rule triggered, condition holds.
  no = 1,                 ///< Nothing selected, a named thing absent, a rule triggered.
  usage = 2,              ///< An option, pattern, rule or parameter is wrong.
  unreadable = 3,         ///< Cannot read or write: no trial, no access, no space.
  damaged = 4,            ///< Damaged data; the readable rest was printed.
  nothing_evaluated = 5,  ///< A rule had nothing to evaluate.
  no_more_data = 6,       ///< The job ended before the step came.
  timed_out = 124,        ///< Gave up waiting.
};

/// If several statuses apply, the first of these is the command's. Failures and timeouts come before an answer, which
/// might have been different without them.
inline constexpr std::array exit_status_order = {
    ExitStatus::usage, ExitStatus::unreadable,   ExitStatus::damaged,           ExitStatus::timed_out,
    ExitStatus::no,    ExitStatus::no_more_data, ExitStatus::nothing_evaluated, ExitStatus::yes,
};

/// The one of the two that comes first in `exit_status_order`.
[[nodiscard]] ExitStatus combine(ExitStatus a, ExitStatus b) noexcept;

/// The command line asks for something impossible. Throw it anywhere: `run_command` prints `smd-ls: Usage: TEXT` and
/// `Try 'smd-ls --help'.`, and the status is 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Refuses a command line, such as one with options that contradict each other. @throws UsageError.
inline void refuse_if(bool wrong, std::string_view why) {
  if (wrong) {
    throw UsageError(std::string(why));
  }
}

/// An option's value is invalid. The text says what is wrong with the value and does not name the option:
/// `CommandLine::convert` adds the name and throws a UsageError.
struct InvalidValue : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// @throws InvalidValue.
inline void invalid_if(bool wrong, std::string_view why) {
  if (wrong) {
    throw InvalidValue(std::string(why));
  }
}

/// Results could not be written. Status 3.
struct OutputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace smd::tool
