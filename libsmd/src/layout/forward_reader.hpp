// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/buffer.hpp"
#include "storage/storage.hpp"
#include "text/limits.hpp"
#include "types/problem_list.hpp"

#include <smd/problem.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace smd::detail::layout {

/// Some bytes of a file. By the first, another file is known as a later copy of it, or the same file as written anew.
struct FileBytes {
  static constexpr std::size_t most_bytes = 4096;

  /// Reads the first ones: fewer than `bytes` if the file has no more or cannot be read.
  FileBytes(const storage::File& file, std::size_t bytes) {
    std::array<char, most_bytes> buffer{};
    const auto got = file.read_at(0, std::as_writable_bytes(std::span(buffer).first(std::min(bytes, most_bytes))));
    *this = FileBytes(std::string_view(buffer.data(), got ? *got : 0));
  }
  explicit FileBytes(std::string_view bytes) : count(bytes.size()), hash(std::hash<std::string_view>()(bytes)) {}
  FileBytes() = default;
  bool operator==(const FileBytes&) const = default;

  std::size_t count = 0;
  std::size_t hash = 0;
};

/// Reads a file from front to back, up to the size that it had when it was opened. Takes the memory of one block, or
/// of the longest piece that its caller does not skip.
class ForwardReader {
 public:
  /// `file` must outlive this.
  ForwardReader(const storage::File& file, std::uint64_t offset) : file_(file), offset_(offset) {}

  /// Returns bytes that were read and not skipped. `Buffer::padding` more bytes may be read after them. Valid until
  /// `more`.
  [[nodiscard]] std::span<const std::byte> unread() const noexcept { return {buffer_.get() + begin_, end_ - begin_}; }
  [[nodiscard]] std::string_view text() const noexcept {
    return {reinterpret_cast<const char*>(buffer_.get()) + begin_, end_ - begin_};
  }
  [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }  ///< Of the first unread byte.
  void skip(std::size_t bytes) noexcept {
    begin_ += bytes;
    offset_ += bytes;
  }
  /// As `skip`, also bytes that were not read.
  void pass(std::uint64_t bytes) noexcept {
    const bool held = bytes <= end_ - begin_;
    begin_ = held ? begin_ + bytes : 0;
    end_ = held ? end_ : 0;
    offset_ += bytes;
  }
  /// Returns the bytes that were skipped last: `FileBytes::most_bytes`, or all since the start or the last ones that
  /// were not read. Valid until `more`.
  [[nodiscard]] std::string_view skipped() const noexcept {
    const std::size_t count = std::min(begin_, FileBytes::most_bytes);
    return {reinterpret_cast<const char*>(buffer_.get()) + begin_ - count, count};
  }
  /// Reads more. Returns false at the end of the file, and if reading failed.
  bool more() {
    const std::uint64_t at = offset_ + (end_ - begin_);
    if (at >= file_.size() || problem_) {
      return false;
    }
    make_room();
    const std::size_t want = std::min<std::uint64_t>(capacity_ - end_, file_.size() - at);
    const auto got = file_.read_at(at, {buffer_.get() + end_, want});
    if (!got) {
      problem_ = got.problem();
      return false;
    }
    end_ += *got;
    std::memset(buffer_.get() + end_, 0, Buffer::padding);
    return *got != 0;
  }
  /// Reads until there are so many unread bytes. Returns whether there are.
  bool have(std::size_t bytes) {
    while (unread().size() < bytes && more()) {
    }
    return unread().size() >= bytes;
  }
  /// Why reading failed; nullopt if it did not.
  [[nodiscard]] const std::optional<Problem>& problem() const noexcept { return problem_; }

 private:
  static constexpr std::size_t block_bytes = std::size_t{256} << 10;

  void make_room() {
    const std::size_t kept = std::min(begin_, FileBytes::most_bytes);
    const std::size_t left = end_ - begin_;
    if (capacity_ - end_ < block_bytes / 2) {
      const std::size_t capacity = std::max(capacity_, left < block_bytes / 2 ? block_bytes : 2 * left);
      std::unique_ptr<std::byte[]> next;
      if (capacity > capacity_) {
        next.reset(new std::byte[capacity + Buffer::padding]);
      }
      std::memmove(next ? next.get() : buffer_.get(), buffer_.get() + begin_ - kept, kept + left);
      if (next) {
        buffer_ = std::move(next);
        capacity_ = capacity;
      }
      begin_ = kept;
      end_ = kept + left;
    }
  }

  const storage::File& file_;
  std::uint64_t offset_;
  std::unique_ptr<std::byte[]> buffer_{new std::byte[Buffer::padding]()};
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::optional<Problem> problem_;
};

/// A file that is read as it grows.
struct GrowingFile {
  std::string path;
  /// Taken before it was last read, and before it was compared with `head`; nullopt: it must be read again.
  std::optional<storage::FileStamp> stamp;
  std::uint64_t offset = 0;                         ///< Of what was not read.
  FileBytes head;                                   ///< Read only if the file may be looked at again.
  ProblemList problems{limits::problems_per_file};  ///< Of what was read.
  std::optional<Problem> rest;  ///< Why the bytes after `offset` were not read, or what is said of the file's end.

  /// Takes the head of `file` before it is read. Returns false if it is not what was read up to `offset`; the next look
  /// then takes it for another file. Call it again after reading if writers overwrite such files.
  [[nodiscard]] bool take_head(const storage::File& file) {
    const FileBytes now(file, FileBytes::most_bytes);  // first: if the file is overwritten then, the comparison fails
    const bool same = head.count == 0                       ? offset == 0
                      : head.count == FileBytes::most_bytes ? now == head
                                                            : FileBytes(file, head.count) == head;
    head = same ? now : FileBytes();
    stamp = same ? stamp : storage::FileStamp();  // which no file has
    return same;
  }

  /// Takes why the bytes after `offset` could not be read. The next look tries again.
  void fail(Problem why) {
    stamp.reset();
    rest = std::move(why);
  }
  /// Returns whether `now` is the stamp of the file that was read, whatever was written to it.
  [[nodiscard]] bool is(const storage::FileStamp& now) const {
    constexpr std::size_t device_and_inode = 2;
    return stamp && std::equal(now.begin(), now.begin() + device_and_inode, stamp->begin());
  }
  /// Returns whether the `read` bytes that were read of an append-only file are still there. Another file with the same
  /// beginning is a later copy, such as rsync makes, or an object of a store that was written again.
  [[nodiscard]] bool goes_on(storage::Storage& storage, const storage::FileStamp& now, std::uint64_t read) const {
    constexpr std::size_t telling_bytes = 64;  // with times or IDs
    if (storage::size_of(now) < read || is(now)) {
      return storage::size_of(now) >= read;
    }
    const auto opened = storage.open(path);
    return opened && head.count >= telling_bytes && FileBytes(**opened, head.count) == head;
  }
};

}  // namespace smd::detail::layout
