// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <boost/endian/conversion.hpp>
#include <boost/filesystem/operations.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <memory>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "base/crc32c.hpp"
#include "s3/cache.hpp"
#include "s3/signing.hpp"
#include "text/path.hpp"
#include "text/system_problem.hpp"

namespace smd::detail::storage::s3 {
namespace {

constexpr std::string_view magic = "smd-cache 1\n";
constexpr std::size_t numbers_bytes = 4 + 8 + 8 + 4;  // length of the ETag, object's size, length of the data, CRC-32C
constexpr std::uint64_t most_entry = std::uint64_t{32} << 20;

template <class T>
void put(std::string& text, T value) {
  boost::endian::native_to_little_inplace(value);
  text.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <class T>
T take(std::string_view text, std::size_t at) {
  const auto* const from = reinterpret_cast<const unsigned char*>(text.data() + at);
  return boost::endian::endian_load<T, sizeof(T), boost::endian::order::little>(from);
}

std::uint32_t checksum(std::string_view numbers, std::string_view content) {
  return crc32c(std::as_bytes(std::span(content)), crc32c(std::as_bytes(std::span(numbers))));
}

std::string serialise(const Cache::Entry& entry) {
  std::string numbers;
  put(numbers, static_cast<std::uint32_t>(entry.etag.size()));
  put(numbers, entry.object_size);
  put(numbers, static_cast<std::uint64_t>(entry.data.size()));
  std::string text(magic);
  text += numbers;
  const std::string content = entry.etag + entry.data;
  put(text, checksum(numbers, content));
  return text + content;
}

std::optional<Cache::Entry> parse(std::string_view text) {
  if (text.size() < magic.size() + numbers_bytes || !text.starts_with(magic)) {
    return std::nullopt;
  }
  const std::string_view numbers = text.substr(magic.size(), numbers_bytes - 4);
  const auto etag_bytes = take<std::uint32_t>(numbers, 0);
  const std::string_view content = text.substr(magic.size() + numbers_bytes);
  if (etag_bytes > content.size() || take<std::uint64_t>(numbers, 12) != content.size() - etag_bytes ||
      take<std::uint32_t>(text, magic.size() + numbers.size()) != checksum(numbers, content)) {
    return std::nullopt;
  }
  return Cache::Entry{std::string(content.substr(0, etag_bytes)), take<std::uint64_t>(numbers, 4),
                      std::string(content.substr(etag_bytes))};
}

/// Returns the place of an entry: a folder named by the first two digits, and a file named by the others.
std::pair<std::string, std::string> place_of(std::string_view name) {
  const std::string digest = hex(sha256(name));
  return {digest.substr(0, 2), digest.substr(2)};
}

/// The marker: a file that backup programs recognise (bford.info/cachedir), with a second line of our own.
constexpr const char* cache_marker = "CACHEDIR.TAG";

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
         std::ranges::count(name, '-') == dashes && name.find("--") == name.npos && !name.ends_with('-');
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
  path.resize(text::without_slashes(path).size());
  boost::system::error_code error;  // the next call reports failures
  boost::filesystem::create_directories(boost::filesystem::path(path).parent_path(), error);
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return {};
  }
  return Descriptor(uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
}

struct KeptFile {
  std::string folder;
  std::string name;
  std::uint64_t bytes = 0;
  std::pair<std::time_t, long> used;  ///< Seconds and nanoseconds.
};

/// Adds the contents of one folder to `entries`, and removes what processes that died left there. The total includes
/// temporary files in use.
std::uint64_t measure(int folder, const std::string& folder_name, std::vector<KeptFile>& entries) {
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
      entries.push_back({folder_name, std::move(name), size, {status.st_mtim.tv_sec, status.st_mtim.tv_nsec}});
    }
  }
  return bytes;
}

/// Opens the folder of two digits for an entry. If it does not exist, or is no folder, the result is not open and errno
/// says why. `make`: create it if needed.
Descriptor open_entry_folder(int root, const std::string& name, bool make) {
  if (make && ::mkdirat(root, name.c_str(), 0700) != 0 && errno != EEXIST) {
    return {};
  }
  return Descriptor(::openat(root, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

/// Returns a name for a temporary file that no other process on any machine uses.
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

/// Writes all of `text` to the file `temporary` in `folder`, and renames it to `name`. If `name` exists and is not a
/// regular file, this is an error and it is kept. Returns 0, or the errno of the failure; then the temporary file does
/// not remain.
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

/// If the entries take more than `most_bytes`, removes the least recently used ones until an eighth is free. Also
/// removes files that a process left unfinished more than an hour ago. Ignores what other processes remove meanwhile.
void make_room(int root, std::uint64_t most_bytes) {
  std::vector<KeptFile> entries;
  std::vector<std::string> names;
  (void)names_in(root, names);
  std::vector<KeptFile> none;  // entries are in folders; here are only temporary files
  std::uint64_t bytes = measure(root, {}, none);
  for (const std::string& name : names) {
    if (const Descriptor folder = is_hex(name, folder_digits) ? open_entry_folder(root, name, false) : Descriptor()) {
      bytes += measure(folder.get(), name, entries);
    }
  }
  if (bytes <= most_bytes) {
    return;
  }
  std::ranges::sort(entries, {}, &KeptFile::used);
  for (const KeptFile& entry : entries) {
    if (bytes <= most_bytes - most_bytes / 8) {
      return;
    }
    const Descriptor folder = open_entry_folder(root, entry.folder, false);
    if (folder && ::unlinkat(folder.get(), entry.name.c_str(), 0) == 0) {
      bytes -= entry.bytes;
    }
  }
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
  } else if (!std::ranges::all_of(names, is_temporary) && !has_marker(root)) {
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

Cache::Cache(std::string folder, std::uint64_t most_bytes, std::function<void(std::string)> say)
    : folder_(std::move(folder)),
      most_bytes_(most_bytes),
      say_(std::move(say)),
      unchecked_bytes_(most_bytes) {  // so that the first write measures the folder
  CacheFolder opened = open_cache_folder(folder_);
  if (!opened.trouble.empty()) {
    give_up(opened.trouble);
  } else if (::faccessat(opened.root.get(), ".", R_OK | W_OK | X_OK, 0) != 0) {
    give_up(error_text(errno));
  }
  root_ = std::move(opened.root);
}

void Cache::give_up(const std::string& why) {
  if (usable_.exchange(false)) {
    say_("nothing is kept in the cache '" + folder_ + "': " + why);
  }
}

std::optional<Cache::Entry> Cache::find(std::string_view name) {
  if (!usable()) {
    return std::nullopt;
  }
  const auto [digits, file] = place_of(name);
  const Descriptor folder = open_entry_folder(root_.get(), digits, false);
  const Descriptor fd(::openat(folder.get(), file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status;
  if (!fd || ::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return std::nullopt;
  }
  constexpr std::uint64_t most = most_entry + (std::uint64_t{1} << 16);
  const auto text = read_to_end(fd.get(), most);
  std::optional<Entry> entry = text && text->size() <= most ? parse(*text) : std::nullopt;
  if (!entry) {
    ::unlinkat(folder.get(), file.c_str(), 0);
    if (!damage_said_.exchange(true)) {
      say_("damaged entries of the cache '" + folder_ + "' are removed and fetched anew");
    }
    return std::nullopt;
  }
  ::futimens(fd.get(), nullptr);  // entries in use are kept
  return entry;
}

void Cache::keep(std::string_view name, const Entry& entry) {
  if (!usable() || entry.etag.empty() || entry.etag.size() > 1024 || entry.data.size() > most_entry) {
    return;
  }
  const auto [digits, file] = place_of(name);
  const Descriptor folder = open_entry_folder(root_.get(), digits, true);
  const std::string text = serialise(entry);
  if (const int error = folder ? write_whole(folder.get(), temporary_name(), file, text) : errno; error == 0) {
    wrote(text.size());
  } else if (error != EEXIST && error != ENOTDIR) {  // with these, something else has the name and is kept
    give_up(error_text(error));
  }
}

/// Measures the folder only occasionally.
void Cache::wrote(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  unchecked_bytes_ += bytes;
  if (unchecked_bytes_ >= most_bytes_ / 16) {
    unchecked_bytes_ = 0;
    make_room(root_.get(), most_bytes_);
  }
}

}  // namespace smd::detail::storage::s3
