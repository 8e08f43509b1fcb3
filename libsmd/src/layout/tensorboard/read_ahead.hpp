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

/// Reads a file of records from front to back in a thread of its own, a few blocks ahead of the thread that uses them,
/// and verifies their checksums up to the first record that is damaged or much longer than others.
class ReadAhead {
 public:
  struct Block {
    std::span<std::byte> bytes;  ///< Empty at the end, and if reading failed.
    /// As many bytes before `bytes` are the end of the block before; a record begins there, unless `sound` is 0.
    std::size_t joined = 0;
    std::size_t sound = 0;  ///< Length of the records from there on that are known to be whole and sound.
  };

  /// Bytes before each block that its user may overwrite, to join a block with the end of the one before.
  static constexpr std::size_t margin_bytes = std::size_t{16} << 10;
  static constexpr std::size_t block_bytes = std::size_t{256} << 10;

  /// Reads from `offset`, where a record begins, up to `end`. `file` must outlive this.
  /// @throws std::system_error, std::bad_alloc
  ReadAhead(const storage::File& file, std::uint64_t offset, std::uint64_t end);
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;
  ~ReadAhead();

  /// Waits for the next block. Valid, with its margin, until the call after the next.
  [[nodiscard]] Block next();

 private:
  void read();
  void verify(Block& block) noexcept;

  const storage::File& file_;
  std::uint64_t offset_;
  std::uint64_t end_;
  std::array<std::unique_ptr<std::byte[]>, 4> memory_;  ///< Each a margin and a block.
  std::array<Block, 4> blocks_;                         ///< In turn: block i of the file is in `blocks_[i % size]`.
  std::span<const std::byte> unverified_;               ///< The end of the last block, where a record begins.
  bool verifying_ = true;                               ///< `unverified_` is known.
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t read_ = 0;   ///< Number of blocks that were read.
  std::uint64_t taken_ = 0;  ///< Number of blocks that `next` returned; the last two are in use.
  bool ended_ = false;       ///< No more blocks will be read.
  bool unwanted_ = false;
  std::thread thread_;
};

}  // namespace smd::detail::layout
