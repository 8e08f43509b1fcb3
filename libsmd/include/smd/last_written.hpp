// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/export.hpp>

#include <chrono>
#include <optional>

namespace smd {

class Trial;

/// Returns when the newest event, index or collections file of a trial was written, by the clock of the machine that
/// stores it. Lists all of them again: locally one system call each, on S3 one request for 1000 files.
/// @return nullopt if the trial has no such file, or if a folder cannot be listed (`Trial::problems` names it).
[[nodiscard]] SMD_EXPORT std::optional<std::chrono::system_clock::time_point> last_written(const Trial& trial);

}  // namespace smd
