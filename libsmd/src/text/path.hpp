// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace smd::text {

/// Returns the last part of a path: `c` of `a/b/c`.
[[nodiscard]] constexpr std::string_view leaf_of(std::string_view path) noexcept {
  return path.substr(path.rfind('/') + 1);
}

/// Returns the folder of a path: `a/b` of `a/b/c`; empty if it has none.
[[nodiscard]] constexpr std::string_view folder_of(std::string_view path) noexcept {
  const std::size_t slash = path.rfind('/');
  return path.substr(0, slash == path.npos ? 0 : slash);
}

/// Returns a path without `/` at its end; `/` of one that has nothing else.
[[nodiscard]] constexpr std::string_view without_slashes(std::string_view path) noexcept {
  return path.substr(0, std::max<std::size_t>(path.find_last_not_of('/') + 1, 1));
}

/// Returns whether a path is that of a folder or of something in it: `a` and `a/b` of `a`.
[[nodiscard]] constexpr bool lies_in(std::string_view path, std::string_view folder) noexcept {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/' || folder == "/");
}

/// Returns whether a problem's file is inside the trial. Such paths are relative to the trial. The path of the trial
/// itself, or of a folder around it, is not.
[[nodiscard]] constexpr bool is_inside_trial(std::string_view file, std::string_view trial) noexcept {
  trial = without_slashes(trial);
  return !file.empty() && !lies_in(file, trial) && !lies_in(trial, file);
}

/// Returns the path of what lies in a folder: `a/b/c` of `a/b` and `c`; the name alone if the folder is empty.
[[nodiscard]] inline std::string path_in(std::string_view folder, std::string_view name) {
  return std::string(folder).append(folder.empty() ? "" : "/").append(name);
}

}  // namespace smd::text
