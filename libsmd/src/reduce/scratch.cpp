// SPDX-License-Identifier: Apache-2.0
#include "reduce/scratch.hpp"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <new>
#include <optional>
#include <utility>

namespace smd::detail::reduce {
namespace {

constexpr std::size_t largest_kept = std::size_t{1} << 20;

using Kept = std::array<Buffer, 4>;

// Returns buffers of this thread, at most 4 MiB together; null if there is no memory for them. A thread_local with a
// destructor would end the process then.
Kept* spare() noexcept {
  static const auto key = [] {
    pthread_key_t made{};
    const bool fails = pthread_key_create(&made, [](void* kept) { delete static_cast<Kept*>(kept); }) != 0;
    return fails ? std::nullopt : std::optional(made);
  }();
  if (!key) {
    return nullptr;
  }
  auto* kept = static_cast<Kept*>(pthread_getspecific(*key));
  if (kept == nullptr && (kept = new (std::nothrow) Kept) != nullptr && pthread_setspecific(*key, kept) != 0) {
    delete kept;
    kept = nullptr;
  }
  return kept;
}

}  // namespace

Scratch::Scratch(std::size_t bytes) {
  Buffer* best = nullptr;
  if (Kept* const kept = spare(); kept != nullptr) {
    for (Buffer& one : *kept) {
      if (one.capacity() >= bytes && (best == nullptr || one.capacity() < best->capacity())) {
        best = &one;
      }
    }
  }
  if (best != nullptr) {
    std::swap(buffer_, *best);
  } else if (buffer_.reserve(bytes) == nullptr) {
    throw std::bad_alloc();
  }
}

Scratch::~Scratch() {
  Kept* const kept = buffer_.capacity() == 0 || buffer_.capacity() > largest_kept ? nullptr : spare();
  if (kept == nullptr) {
    return;
  }
  const auto least = std::min_element(kept->begin(), kept->end(), [](const Buffer& left, const Buffer& right) {
    return left.capacity() < right.capacity();
  });
  if (least->capacity() < buffer_.capacity()) {
    std::swap(buffer_, *least);
  }
}

}  // namespace smd::detail::reduce
