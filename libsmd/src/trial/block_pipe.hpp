// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/block_reader.hpp>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace smd::detail::trial {

/// Passes the blocks of one value from the thread that reads it to another one; only a few blocks wait at a time.
class BlockPipe : public BlockSink {
 public:
  // For the reading thread.
  bool begin(Dtype dtype, const Shape& shape) override;
  bool block(std::span<const std::byte> bytes) override;
  /// Signals that no more blocks follow, or that there is no value.
  void end();

  // For the other thread.
  struct Value {
    Dtype dtype;
    Shape shape;
  };
  /// Waits for the value's type and shape. Nullopt if reading ended without a value.
  std::optional<Value> value();
  /// Waits for `bytes` contiguous bytes, valid until the next call. Empty if reading ended before.
  std::span<const std::byte> take(std::size_t bytes);
  /// Stops the reading thread: no more blocks are needed.
  void close();

 private:
  static constexpr std::size_t most_waiting = 8;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Value> value_;
  std::deque<std::vector<std::byte>> waiting_;
  std::vector<std::vector<std::byte>> spare_;
  std::size_t given_ = 0;  // bytes of the value so far
  std::size_t again_ = 0;  // bytes to skip, because the value is read again
  bool ended_ = false;
  bool closed_ = false;

  // Used by the other thread only.
  std::vector<std::byte> front_;
  std::size_t used_ = 0;
  std::vector<std::byte> joined_;
};

}  // namespace smd::detail::trial
