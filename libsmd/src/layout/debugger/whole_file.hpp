// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/buffer.hpp"
#include "storage/storage.hpp"
#include "text/limits.hpp"
#include "types/outcome.hpp"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>

namespace smd::detail::layout {

/// Files up to this size are read concurrently without a limit of their total size.
inline constexpr std::uint64_t short_file_bytes = std::uint64_t{4} << 20;

/// Limits the bytes of long files that the threads of one query hold at once to `limits::json_bytes`. The length of a
/// file is unknown until it has been read, so without this each of several endless files would take the whole limit.
class LongFiles {
 public:
  /// A part of these bytes, which its last owner gives back; null: none.
  using Share = std::shared_ptr<LongFiles>;

  /// Waits until that many bytes are free; more than the limit count as the limit. @pre the thread holds no share
  [[nodiscard]] Share take(std::uint64_t bytes);

 private:
  std::mutex mutex_;
  std::condition_variable given_back_;
  std::uint64_t free_ = limits::json_bytes;  // guarded
};

/// A file's text, and the share of memory that it takes. If there is a share, free `buffer` before it.
struct WholeFile {
  LongFiles::Share share;
  Outcome<std::span<const std::byte>> text;
};

/// Reads an index or collections file of at most `limits::json_bytes`.
[[nodiscard]] WholeFile read_whole(storage::Folder& folder, std::string_view leaf, Buffer& buffer, LongFiles& files);

}  // namespace smd::detail::layout
