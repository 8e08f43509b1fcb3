// SPDX-License-Identifier: Apache-2.0
#include "reduce/scratch.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <utility>

namespace smd::detail::reduce {
namespace {

constexpr std::size_t largest_kept = std::size_t{1} << 20;

// Buffers of this thread; at most 4 MiB together.
std::array<Buffer, 4>& spare() noexcept {
  thread_local std::array<Buffer, 4> kept;
  return kept;
}

}  // namespace

Scratch::Scratch(std::size_t bytes) {
  Buffer* best = nullptr;
  for (Buffer& kept : spare()) {
    if (kept.capacity() >= bytes && (best == nullptr || kept.capacity() < best->capacity())) {
      best = &kept;
    }
  }
  if (best != nullptr) {
    std::swap(buffer_, *best);
  } else if (buffer_.reserve(bytes) == nullptr) {
    throw std::bad_alloc();
  }
}

Scratch::~Scratch() {
  if (buffer_.capacity() > largest_kept) {
    return;
  }
  auto& kept = spare();
  const auto least = std::min_element(kept.begin(), kept.end(), [](const Buffer& left, const Buffer& right) {
    return left.capacity() < right.capacity();
  });
  if (least->capacity() < buffer_.capacity()) {
    std::swap(buffer_, *least);
  }
}

}  // namespace smd::detail::reduce
