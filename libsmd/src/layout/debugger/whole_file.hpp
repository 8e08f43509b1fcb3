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

/// Files up to this are read side by side, whatever their number.
inline constexpr std::uint64_t short_file_bytes = std::uint64_t{4} << 20;

/// How many bytes of long files the threads of one question hold at once: `limits::json_bytes` in all. Nothing tells
/// how long a file is before it has been read, so that several without an end would each take what one may.
class LongFiles {
 public:
  /// A part of these bytes, given back when it ends. Movable.
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
  /// Waits until so many bytes are free, at most all there are. A thread that holds a share takes no other.
  [[nodiscard]] Share take(std::uint64_t bytes);

 private:
  std::mutex mutex_;
  std::condition_variable given_back_;
  std::uint64_t free_;  // guarded
};

/// A file's text, and the share of memory that it is read with. Where there is one, give `buffer` back before the
/// share.
struct WholeFile {
  LongFiles::Share share;
  Outcome<std::span<const std::byte>> text;
};

/// Reads an index or collections file, at most `limits::json_bytes` long.
[[nodiscard]] WholeFile read_whole(storage::Folder& folder, std::string_view leaf, Buffer& buffer, LongFiles& files);

}  // namespace smd::detail::layout
