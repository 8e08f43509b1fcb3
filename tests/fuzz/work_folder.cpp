// SPDX-License-Identifier: Apache-2.0
#include "work_folder.hpp"

#include "target.hpp"

#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace smd::fuzz {

namespace {

/// Returns whether a name has only plain parts, none of them `..`, and is short enough for every file system.
bool is_safe(std::string_view name) {
  if (name.empty() || name.size() > 200 || name.front() == '/' || name.find('\0') != std::string_view::npos) {
    return false;
  }
  for (const std::filesystem::path& part : std::filesystem::path(name)) {
    if (part == "..") {
      return false;
    }
  }
  return true;
}

}  // namespace

WorkFolder::WorkFolder() {
  const bool in_memory = std::getenv("TMPDIR") == nullptr && access("/dev/shm", W_OK) == 0;
  path_ = in_memory ? "/dev/shm" : std::filesystem::temp_directory_path().string();
  path_ += "/smd-fuzz-XXXXXX";
  SMD_REQUIRE(mkdtemp(path_.data()) != nullptr);
}

WorkFolder::~WorkFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void WorkFolder::clear() const {
  for (const auto& entry : std::filesystem::directory_iterator(path_)) {
    std::filesystem::remove_all(entry.path());
  }
}

bool WorkFolder::write(std::string_view name, std::string_view content) const {
  if (!is_safe(name)) {
    return false;
  }
  const std::filesystem::path path = std::filesystem::path(path_) / name;
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  std::FILE* file = error ? nullptr : std::fopen(path.c_str(), "wb");
  if (file == nullptr) {
    return false;
  }
  const std::size_t wrote = std::fwrite(content.data(), 1, content.size(), file);
  return (std::fclose(file) == 0) && wrote == content.size();
}

const WorkFolder& empty_work_folder() {
  static const WorkFolder folder;
  folder.clear();
  return folder;
}

}  // namespace smd::fuzz
