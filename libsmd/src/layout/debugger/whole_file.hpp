// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/buffer.hpp"
#include "storage/storage.hpp"
#include "types/outcome.hpp"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string_view>
#include <utility>

namespace smd::detail::layout {

/// Files up to this size are read concurrently without a limit of their total size.
inline constexpr std::uint64_t short_file_bytes = std::uint64_t{4} << 20;

/// Limits the bytes of long files that the threads of one query hold at once to `limits::json_bytes`. The length of a
/// file is unknown until it has been read, so without this each of several endless files would take the whole limit.
class LongFiles {
 public:
  /// A part of these bytes, released on destruction. Movable.
  class Share {
   public:
    Share() = default;
    Share(Share&& other) noexcept : of_(std::exchange(other.of_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
    Share& operator=(Share&& other) noexcept {
      std::swap(of_, other.of_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;
    ~Share();
    [[nodiscard]] explicit operator bool() const noexcept { return of_ != nullptr; }

   private:
    friend class LongFiles;
    Share(LongFiles* of, std::uint64_t bytes) noexcept : of_(of), bytes_(bytes) {}
    LongFiles* of_ = nullptr;
    std::uint64_t bytes_ = 0;
  };

  LongFiles() noexcept;
  /// Waits until that many bytes are free; more than the limit count as the limit. @pre the thread holds no share
  [[nodiscard]] Share take(std::uint64_t bytes);

 private:
  std::mutex mutex_;
  std::condition_variable given_back_;
  std::uint64_t free_;  // guarded
};

/// A file's text, and the share of memory that it takes. If there is a share, free `buffer` before it.
struct WholeFile {
  LongFiles::Share share;
  Outcome<std::span<const std::byte>> text;
};

/// Reads an index or collections file of at most `limits::json_bytes`.
[[nodiscard]] WholeFile read_whole(storage::Folder& folder, std::string_view leaf, Buffer& buffer, LongFiles& files);

}  // namespace smd::detail::layout
