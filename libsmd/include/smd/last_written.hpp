// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/export.hpp>

#include <chrono>
#include <cstdint>
#include <optional>

namespace smd {

class Trial;

/// What the files of a trial are together.
struct FileTotals {
  std::chrono::system_clock::time_point newest;  ///< When the newest was written, by the clock of what stores it.
  std::uint64_t bytes = 0;                       ///< Sum of their sizes.
};

/// Returns the totals of a trial's event, index, collections and other files. Lists all of them again: locally one
/// system call each, on S3 one request for 1000 files.
/// @return nullopt if the trial has no such file, or if a folder cannot be listed (`Trial::problems` names it).
[[nodiscard]] SMD_EXPORT std::optional<FileTotals> file_totals(const Trial& trial);

/// Returns `FileTotals::newest` alone.
[[nodiscard]] SMD_EXPORT std::optional<std::chrono::system_clock::time_point> last_written(const Trial& trial);

}  // namespace smd
