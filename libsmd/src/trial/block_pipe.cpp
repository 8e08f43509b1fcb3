// SPDX-License-Identifier: Apache-2.0
#include "trial/block_pipe.hpp"

#include <algorithm>
#include <utility>

namespace smd::detail::trial {

bool BlockPipe::begin(Dtype dtype, const Shape& shape) {
  const std::lock_guard lock(mutex_);
  again_ = given_;
  value_ = Value{dtype, shape};
  changed_.notify_all();
  return !closed_;
}

bool BlockPipe::block(std::span<const std::byte> bytes) {
  std::unique_lock lock(mutex_);
  const std::size_t skipped = std::min(again_, bytes.size());
  again_ -= skipped;
  bytes = bytes.subspan(skipped);
  if (bytes.empty()) {
    return !closed_;
  }
  changed_.wait(lock, [this] { return closed_ || waiting_.size() < most_waiting; });
  if (closed_) {
    return false;
  }
  std::vector<std::byte> copy;
  if (!spare_.empty()) {
    copy = std::move(spare_.back());
    spare_.pop_back();
  }
  lock.unlock();
  copy.assign(bytes.begin(), bytes.end());
  lock.lock();
  given_ += bytes.size();
  waiting_.push_back(std::move(copy));
  changed_.notify_all();
  return !closed_;
}

void BlockPipe::end() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

std::optional<BlockPipe::Value> BlockPipe::value() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return ended_ || value_.has_value(); });
  return value_;
}

std::span<const std::byte> BlockPipe::take(std::size_t bytes) {
  joined_.clear();
  while (true) {
    const std::size_t here = front_.size() - used_;
    const std::span<const std::byte> rest = std::span(front_).subspan(used_);
    if (joined_.empty() && here >= bytes) {
      used_ += bytes;
      return rest.first(bytes);
    }
    const std::size_t part = std::min(here, bytes - joined_.size());
    joined_.insert(joined_.end(), rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(part));
    used_ += part;
    if (joined_.size() == bytes) {
      return joined_;
    }
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ended_ || !waiting_.empty(); });
    if (waiting_.empty()) {
      return {};
    }
    spare_.push_back(std::move(front_));
    front_ = std::move(waiting_.front());
    waiting_.pop_front();
    used_ = 0;
    changed_.notify_all();
  }
}

void BlockPipe::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

}  // namespace smd::detail::trial
