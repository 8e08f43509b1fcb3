// SPDX-License-Identifier: Apache-2.0
#include "storage/s3/cache_folder.hpp"

#include <boost/filesystem.hpp>
#include <boost/system/error_code.hpp>

#include <algorithm>
#include <ctime>
#include <utility>
#include <vector>

namespace smd::detail::storage::s3 {
namespace {

namespace fs = boost::filesystem;
using boost::system::error_code;

constexpr std::time_t stale_temporary = 3600;

struct Kept {
  fs::path path;
  std::uint64_t bytes = 0;
  std::time_t used = 0;
};

/// Calls `take` for what is in a folder, as far as it can be listed.
template <class Take>
void for_each_in(const fs::path& folder, Take&& take) {
  error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    take(*it);
  }
}

/// Size and time of last use of a regular file.
bool measure(const fs::directory_entry& entry, Kept& kept) {
  error_code error;
  if (entry.symlink_status(error).type() != fs::regular_file) {
    return false;
  }
  kept.path = entry.path();
  kept.bytes = fs::file_size(kept.path, error);
  if (error) {
    return false;
  }
  kept.used = fs::last_write_time(kept.path, error);
  return !error;
}

}  // namespace

std::string make_cache_folder(const std::string& folder) {
  error_code error;
  const bool made = fs::create_directories(folder, error);
  if (error || !fs::is_directory(folder, error)) {
    return error ? error.message() : "it is not a folder";
  }
  if (made) {
    fs::permissions(folder, fs::owner_all, error);
  }
  return error ? error.message() : std::string();
}

void make_room(const std::string& folder, std::uint64_t most_bytes) {
  std::vector<Kept> all;
  std::uint64_t bytes = 0;
  for_each_in(folder, [&](const fs::directory_entry& part) {
    error_code error;
    if (part.path().filename().size() != 2 || part.symlink_status(error).type() != fs::directory_file) {
      return;  // not ours
    }
    for_each_in(part.path(), [&](const fs::directory_entry& entry) {
      Kept kept;
      if (!measure(entry, kept)) {
        return;
      }
      const bool temporary = entry.path().filename().string().starts_with(temporary_prefix);
      if (temporary && std::time(nullptr) - kept.used > stale_temporary) {
        error_code ignored;
        fs::remove(kept.path, ignored);  // of a process that died
        return;
      }
      bytes += kept.bytes;
      if (!temporary) {
        all.push_back(std::move(kept));
      }
    });
  });
  if (bytes <= most_bytes) {
    return;
  }
  std::sort(all.begin(), all.end(), [](const Kept& a, const Kept& b) { return a.used < b.used; });
  for (const Kept& kept : all) {
    if (bytes <= most_bytes - most_bytes / 8) {
      return;
    }
    error_code error;
    if (fs::remove(kept.path, error)) {
      bytes -= kept.bytes;
    }
  }
}

}  // namespace smd::detail::storage::s3
