// SPDX-License-Identifier: Apache-2.0
#include "layout/tensorboard/read_ahead.hpp"

#include "wire/framing.hpp"

#include <algorithm>
#include <new>

namespace smd::detail::layout {

ReadAhead::ReadAhead(const storage::File& file, std::uint64_t offset, std::uint64_t end)
    : file_(file), offset_(offset), end_(end) {
  for (auto& memory : memory_) {
    memory = std::make_unique_for_overwrite<std::byte[]>(margin_bytes + block_bytes);
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
    std::byte* const memory = memory_[read_ % blocks_.size()].get() + margin_bytes;
    lock.unlock();
    const std::size_t wanted = std::min<std::uint64_t>(block_bytes, end_ - offset_);
    const auto got = file_.read_at(offset_, {memory, wanted});
    block = {{memory, got ? *got : 0}};
    verify(block);
    offset_ += block.bytes.size();
    lock.lock();
    read_ += block.bytes.empty() ? 0 : 1;
    ended_ = block.bytes.size() < wanted || offset_ == end_;
    changed_.notify_all();
  }
}

void ReadAhead::verify(Block& block) noexcept {
  if (!verifying_) {
    return;
  }
  const std::span<std::byte> joined(block.bytes.data() - unverified_.size(), unverified_.size() + block.bytes.size());
  std::copy(unverified_.begin(), unverified_.end(), joined.begin());
  try {
    block.sound = wire::sound_records(joined);
    block.joined = unverified_.size();
  } catch (const std::bad_alloc&) {  // for the text of a problem
    verifying_ = false;
    return;
  }
  unverified_ = joined.subspan(block.sound);
  verifying_ = unverified_.size() <= margin_bytes;
}

ReadAhead::Block ReadAhead::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return read_ > taken_ || ended_; });
  if (read_ == taken_) {
    return {};
  }
  const Block block = blocks_[taken_ % blocks_.size()];
  ++taken_;
  changed_.notify_all();
  return block;
}

}  // namespace smd::detail::layout
