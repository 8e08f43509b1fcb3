// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/log.hpp>

#include <string_view>

namespace smd::detail {

/// Passes a message to the program's sink, or writes it to standard error. Thread-safe.
void log(LogLevel level, std::string_view message);

}  // namespace smd::detail
