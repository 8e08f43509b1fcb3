// SPDX-License-Identifier: Apache-2.0
#include "layout/tensorboard/read_ahead.hpp"

#include <algorithm>

namespace smd::detail::layout {

ReadAhead::ReadAhead(const storage::File& file, std::uint64_t offset, std::uint64_t end)
    : file_(file), offset_(offset), end_(end) {
  for (Block& block : blocks_) {
    block.memory = std::make_unique_for_overwrite<std::byte[]>(margin_bytes + block_bytes);
  }
  thread_ = std::thread([this] { read(); });
}

ReadAhead::~ReadAhead() {
  {
    const std::lock_guard lock(mutex_);
    unwanted_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void ReadAhead::read() {
  std::unique_lock lock(mutex_);
  while (!ended_) {
    constexpr std::size_t in_use = 2;
    changed_.wait(lock, [this] { return unwanted_ || read_ + in_use < taken_ + blocks_.size(); });
    if (unwanted_) {
      return;
    }
    Block& block = blocks_[read_ % blocks_.size()];
    lock.unlock();
    const std::size_t wanted = std::min<std::uint64_t>(block_bytes, end_ - offset_);
    const auto got = file_.read_at(offset_, {block.memory.get() + margin_bytes, wanted});
    block.size = got ? *got : 0;
    offset_ += block.size;
    lock.lock();
    read_ += block.size != 0 ? 1 : 0;
    ended_ = block.size < wanted || offset_ == end_;
    changed_.notify_all();
  }
}

std::span<std::byte> ReadAhead::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return read_ > taken_ || ended_; });
  if (read_ == taken_) {
    return {};
  }
  const Block& block = blocks_[taken_ % blocks_.size()];
  ++taken_;
  changed_.notify_all();
  return {block.memory.get() + margin_bytes, block.size};
}

}  // namespace smd::detail::layout
