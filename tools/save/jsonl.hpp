// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include "cli/diagnostics.hpp"
#include "cli/interruption.hpp"
#include "options.hpp"
#include "saver.hpp"

namespace smd::tool::save {

/// Saves what standard input lists, one object a line, as the lines come. What is wrong with a line is said with its
/// number and costs only that line. A stop ends the input behind the last whole line that came.
/// @return how many lines could not be saved. @throws ReadError if standard input cannot be read, WriteError.
[[nodiscard]] std::uint64_t save_lines(const SaveOptions& options, Saver& saver, const Interruption& interruption,
                                       Diagnostics& messages);

}  // namespace smd::tool::save
