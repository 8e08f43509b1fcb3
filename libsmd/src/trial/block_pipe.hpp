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

/// Blocks of one value from the thread that reads it to another one; few of them wait.
class BlockPipe : public BlockSink {
 public:
  // The reading thread.
  bool begin(Dtype dtype, const Shape& shape) override;
  bool block(std::span<const std::byte> bytes) override;
  /// Says that no more blocks follow, or that there is no value.
  void end();

  // The other thread.
  struct Value {
    Dtype dtype;
    Shape shape;
  };
  /// Waits. Nothing if the reading ended before.
  std::optional<Value> value();
  /// Waits for so many bytes in a row, valid until the next call. Empty if the reading ended before.
  std::span<const std::byte> take(std::size_t bytes);
  /// Wants no more.
  void close();

 private:
  static constexpr std::size_t most_waiting = 8;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Value> value_;
  std::deque<std::vector<std::byte>> waiting_;
  std::vector<std::vector<std::byte>> spare_;
  std::size_t given_ = 0;  // bytes of the value that came so far
  std::size_t again_ = 0;  // bytes of them that come again, where the value is read anew
  bool ended_ = false;
  bool closed_ = false;

  // Of the other thread alone.
  std::vector<std::byte> front_;
  std::size_t used_ = 0;
  std::vector<std::byte> joined_;
};

}  // namespace smd::detail::trial
