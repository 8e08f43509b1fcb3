// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/storage.hpp"

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <thread>

namespace smd::detail::layout {

/// Reads a file from front to back in a thread of its own, a few blocks ahead of the thread that uses them.
class ReadAhead {
 public:
  /// Bytes before each block that its user may overwrite, to join a block with the end of the one before.
  static constexpr std::size_t margin_bytes = std::size_t{16} << 10;
  static constexpr std::size_t block_bytes = std::size_t{256} << 10;

  /// Reads from `offset` up to `end`. `file` must outlive this.
  /// @throws std::system_error, std::bad_alloc
  ReadAhead(const storage::File& file, std::uint64_t offset, std::uint64_t end);
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;
  ~ReadAhead();

  /// Waits for the next block. Valid, with its margin, until the call after the next. Empty at the end, and if reading
  /// failed.
  [[nodiscard]] std::span<std::byte> next();

 private:
  struct Block {
    std::unique_ptr<std::byte[]> memory;  ///< The margin, then the block.
    std::size_t size = 0;
  };

  void read();

  const storage::File& file_;
  std::uint64_t offset_;
  std::uint64_t end_;
  std::array<Block, 4> blocks_;  ///< In turn: block i of the file is in `blocks_[i % size]`.
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t read_ = 0;   ///< Number of blocks that were read.
  std::uint64_t taken_ = 0;  ///< Number of blocks that `next` returned; the last two are in use.
  bool ended_ = false;       ///< No more blocks will be read.
  bool unwanted_ = false;
  std::thread thread_;
};

}  // namespace smd::detail::layout
