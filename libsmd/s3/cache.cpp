// SPDX-License-Identifier: Apache-2.0
#include "s3/cache.hpp"
#include "storage/system_problem.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <span>
#include <system_error>

#include "base/crc32c.hpp"
#include "s3/cache_folder.hpp"
#include "s3/signing.hpp"
#include "storage/descriptor.hpp"

namespace smd::detail::storage::s3 {
namespace {

constexpr std::string_view magic = "smd-cache 1\n";
constexpr std::size_t numbers_bytes = 4 + 8 + 8 + 4;  // length of the ETag, object's size, length of the data, CRC-32C
constexpr std::uint64_t most_entry = std::uint64_t{32} << 20;

template <class T>
void put(std::string& text, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    text.push_back(static_cast<char>(value >> (8 * i) & 0xFF));
  }
}

template <class T>
T take(std::string_view text, std::size_t at) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    value |= static_cast<T>(static_cast<unsigned char>(text[at + i])) << (8 * i);
  }
  return value;
}

std::uint32_t checksum(std::string_view text) { return crc32c(std::as_bytes(std::span(text))); }

std::string serialise(const Cache::Entry& entry) {
  std::string numbers;
  put(numbers, static_cast<std::uint32_t>(entry.etag.size()));
  put(numbers, entry.object_size);
  put(numbers, static_cast<std::uint64_t>(entry.data.size()));
  std::string text(magic);
  text += numbers;
  const std::string content = entry.etag + entry.data;
  put(text, crc32c(std::as_bytes(std::span(content)), checksum(numbers)));
  return text + content;
}

std::optional<Cache::Entry> parse(std::string_view text) {
  if (text.size() < magic.size() + numbers_bytes || !text.starts_with(magic)) {
    return std::nullopt;
  }
  const std::string_view numbers = text.substr(magic.size(), numbers_bytes - 4);
  const auto etag_bytes = take<std::uint32_t>(numbers, 0);
  const auto data_bytes = take<std::uint64_t>(numbers, 12);
  const std::string_view content = text.substr(magic.size() + numbers_bytes);
  if (etag_bytes > content.size() || data_bytes != content.size() - etag_bytes ||
      take<std::uint32_t>(text, magic.size() + numbers.size()) !=
          crc32c(std::as_bytes(std::span(content)), checksum(numbers))) {
    return std::nullopt;
  }
  return Cache::Entry{std::string(content.substr(0, etag_bytes)), take<std::uint64_t>(numbers, 4),
                      std::string(content.substr(etag_bytes))};
}

/// The place of an entry: a folder named by the first two digits, and a file named by the others.
struct Place {
  std::string folder;
  std::string file;
};

Place place_of(std::string_view name) {
  const std::string digest = hex(sha256(name));
  return {digest.substr(0, 2), digest.substr(2)};
}

}  // namespace

Cache::Cache(std::string folder, std::uint64_t most_bytes, std::function<void(std::string)> say)
    : folder_(std::move(folder)),
      most_bytes_(most_bytes),
      say_(std::move(say)),
      unchecked_bytes_(most_bytes) {}  // so that the first write measures the folder

std::shared_ptr<Cache> Cache::open(std::string folder, std::uint64_t most_bytes, std::function<void(std::string)> say) {
  std::shared_ptr<Cache> cache(new Cache(std::move(folder), most_bytes, std::move(say)));
  CacheFolder opened = open_cache_folder(cache->folder_);
  if (!opened.trouble.empty()) {
    cache->give_up(opened.trouble);
  } else if (::faccessat(opened.root.get(), ".", R_OK | W_OK | X_OK, 0) != 0) {
    cache->give_up(error_text(errno));
  }
  cache->root_ = std::move(opened.root);
  return cache;
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
  const Place place = place_of(name);
  const Descriptor folder = open_entry_folder(root_.get(), place.folder, false);
  const Descriptor fd(::openat(folder.get(), place.file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status;
  if (!fd || ::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_size < 0) {
    return std::nullopt;
  }
  std::optional<Entry> entry;
  if (static_cast<std::uint64_t>(status.st_size) <= most_entry + (std::uint64_t{1} << 16)) {
    std::string text(static_cast<std::size_t>(status.st_size), '\0');
    std::size_t done = 0;
    while (done < text.size()) {
      const ssize_t n = uninterrupted([&] { return ::read(fd.get(), text.data() + done, text.size() - done); });
      if (n <= 0) {
        break;
      }
      done += static_cast<std::size_t>(n);
    }
    entry = done == text.size() ? parse(text) : std::nullopt;
  }
  if (!entry) {
    ::unlinkat(folder.get(), place.file.c_str(), 0);
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
  const Place place = place_of(name);
  const Descriptor folder = open_entry_folder(root_.get(), place.folder, true);
  const std::string text = serialise(entry);
  const int error = folder ? write_whole(folder.get(), temporary_name(), place.file, text) : errno;
  if (error == 0) {
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
