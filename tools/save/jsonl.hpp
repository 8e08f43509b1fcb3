// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include "cli/diagnostics.hpp"
#include "cli/interruption.hpp"
#include "options.hpp"
#include "saver.hpp"

namespace smd::tool::save {

/// Saves what standard input lists, one object a line, as the lines come. An error in a line is reported with the
/// line's number and affects only that line. A stop ends the input after the last whole line that came.
/// @return how many lines could not be saved. @throws ReadError if standard input cannot be read, WriteError.
[[nodiscard]] std::uint64_t save_lines(const SaveOptions& options, Saver& saver, const Interruption& interruption,
                                       Diagnostics& messages);

/// Saves the numbers that the pattern of --lines finds in the lines of standard input, as the lines come.
/// @return how many steps could not be saved; nullopt if no line gave a number. @throws UsageError for a pattern that
/// does not compile or has no group of the step; ReadError, WriteError.
[[nodiscard]] std::optional<std::uint64_t> save_log(const SaveOptions& options, Saver& saver,
                                                    const Interruption& interruption, Diagnostics& messages);

}  // namespace smd::tool::save
