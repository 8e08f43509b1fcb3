// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/diagnostics.hpp"
#include "options.hpp"
#include "saver.hpp"

namespace smd::tool::save {

/// Saves what standard input lists, one object a line, as the lines come. What is wrong with a line is said with its
/// number and costs only that line. @throws ReadError if standard input cannot be read, WriteError.
void save_lines(const SaveOptions& options, Saver& saver, Diagnostics& messages);

}  // namespace smd::tool::save
