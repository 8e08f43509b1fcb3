// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/diagnostics.hpp"
#include "cli/interruption.hpp"
#include "options.hpp"
#include "saver.hpp"

namespace smd::tool::save {

/// Saves the tensors that standard input lists, one JSON object a line, as the lines come. An invalid line is reported
/// by its number and skipped. A stop request ends the input after the last whole line.
/// @throws ReadError if standard input cannot be read, WriteError.
void save_lines(const SaveOptions& options, Saver& saver, const Interruption& interruption, Diagnostics& messages);

}  // namespace smd::tool::save
