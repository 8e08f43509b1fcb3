// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace smd::fuzz {

/// A folder of this process: in TMPDIR, or in memory if the system supports it (/dev/shm); removed when the process
/// ends.
class WorkFolder {
 public:
  WorkFolder();
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  ~WorkFolder();

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Removes all files in it.
  void clear() const;
  /// Writes a file, creating the folders above it. Returns false for names that lead out, or that the system refuses.
  bool write(std::string_view name, std::string_view content) const;

 private:
  std::string path_;
};

/// Returns the folder, emptied.
const WorkFolder& empty_work_folder();

}  // namespace smd::fuzz
