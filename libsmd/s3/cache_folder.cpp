// SPDX-License-Identifier: Apache-2.0
#include "s3/cache_folder.hpp"
#include "storage/system_problem.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/filesystem/operations.hpp>
#include <cerrno>
#include <ctime>
#include <memory>
#include <random>
#include <utility>
#include <vector>

namespace smd::detail::storage::s3 {
namespace {

constexpr std::string_view marker_text =
    "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# smd-cache 1: objects of S3 that libsmd keeps. Other files do not belong here; all of it may be deleted.\n";
/// The part of the marker that identifies our folders.
constexpr std::string_view marker_start = marker_text.substr(0, marker_text.find(':', marker_text.find('#')));

constexpr std::string_view temporary_prefix = "tmp-";
constexpr std::time_t stale_temporary = 3600;
constexpr std::size_t folder_digits = 2;
constexpr std::size_t entry_digits = 62;

bool is_hex(std::string_view name, std::size_t digits) noexcept {
  return name.size() == digits && name.find_first_not_of("0123456789abcdef") == name.npos;
}

/// Returns whether a name is `tmp-` followed by four numbers separated by `-`.
bool is_temporary(std::string_view name) noexcept {
  constexpr std::ptrdiff_t dashes = 4;
  return name.starts_with(temporary_prefix) && name.find_first_not_of("0123456789-", 4) == name.npos &&
         std::count(name.begin(), name.end(), '-') == dashes && name.find("--") == name.npos && !name.ends_with('-');
}

/// Reads the names in an open folder. Returns false and sets errno if it cannot be listed.
bool names_in(int folder, std::vector<std::string>& names) {
  Descriptor again(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(again ? ::fdopendir(again.get()) : nullptr, &::closedir);
  if (!listing) {
    return false;
  }
  (void)again.release();
  for (errno = 0; const dirent* const entry = ::readdir(listing.get()); errno = 0) {
    if (const std::string_view name(entry->d_name); name != "." && name != "..") {
      names.emplace_back(name);
    }
  }
  return errno == 0;
}

bool has_marker(int root) {
  const Descriptor fd(::openat(root, cache_marker, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  std::array<char, marker_start.size()> start{};
  return fd &&
         uninterrupted([&] { return ::read(fd.get(), start.data(), start.size()); }) ==
             static_cast<ssize_t>(start.size()) &&
         std::string_view(start.data(), start.size()) == marker_start;
}

/// Opens the folder, creating it if needed. If it fails, the descriptor is not open and errno is set.
Descriptor open_or_make(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) {
    path.pop_back();
  }
  boost::system::error_code error;  // the next call reports failures
  boost::filesystem::create_directories(boost::filesystem::path(path).parent_path(), error);
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return {};
  }
  return Descriptor(uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
}

struct Entry {
  std::string folder;
  std::string name;
  std::uint64_t bytes = 0;
  timespec used = {};
};

bool used_before(const Entry& a, const Entry& b) noexcept {
  return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec);
}

/// Adds the contents of one folder to `entries`, and removes what processes that died left there. The total includes
/// temporary files in use.
std::uint64_t measure(int folder, const std::string& folder_name, std::vector<Entry>& entries) {
  std::vector<std::string> names;
  (void)names_in(folder, names);  // nothing is removed if listing fails
  std::uint64_t bytes = 0;
  for (std::string& name : names) {
    const bool temporary = is_temporary(name);
    struct stat status = {};
    if ((!temporary && !is_hex(name, entry_digits)) ||
        ::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode)) {
      continue;  // not the cache's
    }
    if (temporary && std::time(nullptr) - status.st_mtim.tv_sec > stale_temporary) {
      ::unlinkat(folder, name.c_str(), 0);
      continue;
    }
    const auto size = static_cast<std::uint64_t>(status.st_size);
    bytes += size;
    if (!temporary) {
      entries.push_back({folder_name, std::move(name), size, status.st_mtim});
    }
  }
  return bytes;
}

}  // namespace

CacheFolder open_cache_folder(const std::string& path) {
  CacheFolder folder;
  folder.root = open_or_make(path);
  if (!folder.root) {
    folder.trouble = errno == ENOTDIR ? "it is not a folder" : "cannot make the folder: " + error_text(errno);
    return folder;
  }
  const int root = folder.root.get();
  if (has_marker(root)) {
    return folder;
  }
  std::vector<std::string> names;
  if (!names_in(root, names)) {
    folder.trouble = error_text(errno);
  } else if (!std::all_of(names.begin(), names.end(), is_temporary) && !has_marker(root)) {
    // The folder is not one that another process has just begun, because it writes the marker first.
    folder.foreign = true;
    folder.trouble = "holds files, but no marker of a cache (" + std::string(cache_marker) +
                     "), so nothing in it is touched; name a new or an empty folder";
  } else if (const int error = write_whole(root, temporary_name(), cache_marker, marker_text); error != 0) {
    folder.trouble = error_text(error);
  }
  if (!folder.trouble.empty()) {
    folder.root = Descriptor();
  }
  return folder;
}

Descriptor open_entry_folder(int root, const std::string& name, bool make) {
  if (make && ::mkdirat(root, name.c_str(), 0700) != 0 && errno != EEXIST) {
    return {};
  }
  return Descriptor(::openat(root, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

std::string temporary_name() {
  // Process ids alone are not unique across containers and machines.
  static const std::string own = [] {
    std::random_device random;
    return std::to_string(random()) + "-" + std::to_string(random());
  }();
  static std::atomic<unsigned> counter{0};
  return std::string(temporary_prefix) + std::to_string(::getpid()) + "-" + own + "-" +
         std::to_string(counter.fetch_add(1));
}

int write_whole(int folder, const std::string& temporary, const std::string& name, std::string_view text) {
  struct stat there = {};
  if (::fstatat(folder, name.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISREG(there.st_mode)) {
    return EEXIST;
  }
  Descriptor fd(::openat(folder, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd) {
    return errno;
  }
  int error = 0;
  while (error == 0 && !text.empty()) {
    const ssize_t n = uninterrupted([&] { return ::write(fd.get(), text.data(), text.size()); });
    error = n < 0 ? errno : 0;
    text.remove_prefix(n < 0 ? 0 : static_cast<std::size_t>(n));
  }
  if (::close(fd.release()) != 0 && error == 0) {
    error = errno;
  }
  if (error == 0 && ::renameat(folder, temporary.c_str(), folder, name.c_str()) != 0) {
    error = errno;
  }
  if (error != 0) {
    ::unlinkat(folder, temporary.c_str(), 0);
  }
  return error;
}

void make_room(int root, std::uint64_t most_bytes) {
  std::vector<Entry> entries;
  std::vector<std::string> names;
  (void)names_in(root, names);
  std::vector<Entry> none;  // entries are in folders; here are only temporary files
  std::uint64_t bytes = measure(root, {}, none);
  for (const std::string& name : names) {
    if (const Descriptor folder = is_hex(name, folder_digits) ? open_entry_folder(root, name, false) : Descriptor()) {
      bytes += measure(folder.get(), name, entries);
    }
  }
  if (bytes <= most_bytes) {
    return;
  }
  std::sort(entries.begin(), entries.end(), used_before);
  for (const Entry& entry : entries) {
    if (bytes <= most_bytes - most_bytes / 8) {
      return;
    }
    const Descriptor folder = open_entry_folder(root, entry.folder, false);
    if (folder && ::unlinkat(folder.get(), entry.name.c_str(), 0) == 0) {
      bytes -= entry.bytes;
    }
  }
}

}  // namespace smd::detail::storage::s3
