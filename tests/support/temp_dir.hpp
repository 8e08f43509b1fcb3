// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace smd::test {

/// A new, empty directory under `$TMPDIR` (or `/tmp`), removed with its content on destruction, including files that a
/// test left unreadable or unwritable.
class TempDir {
 public:
  TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir();

  /// Returns the absolute path, without a trailing slash.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Returns `path()`, a slash and `relative`.
  [[nodiscard]] std::string operator/(std::string_view relative) const;

  /// Creates or replaces a file, and creates the directories above it. Returns its absolute path.
  std::string write(std::string_view relative, std::string_view content) const;
  /// Creates a directory and those above it. Returns its absolute path.
  std::string make_dir(std::string_view relative) const;

 private:
  std::string path_;
};

/// Returns the bytes of a file. Throws std::runtime_error if it cannot be read.
[[nodiscard]] std::string read_file(const std::string& path);

}  // namespace smd::test
