// SPDX-License-Identifier: Apache-2.0
#include "reduce/scratch.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace smd::detail::reduce {
namespace {

constexpr std::size_t largest_kept = std::size_t{1} << 20;

struct Piece {
  std::size_t size = 0;
  std::unique_ptr<std::byte[]> data;
};

// Of this thread; at most 4 MiB in all.
std::array<Piece, 4>& pieces() noexcept {
  thread_local std::array<Piece, 4> kept;
  return kept;
}

}  // namespace

Scratch::Scratch(std::size_t bytes) {
  Piece* best = nullptr;
  for (Piece& piece : pieces()) {
    if (piece.size >= bytes && (best == nullptr || piece.size < best->size)) {
      best = &piece;
    }
  }
  if (best != nullptr) {
    size_ = std::exchange(best->size, 0);
    data_ = std::move(best->data);
    return;
  }
  data_.reset(new std::byte[bytes]);
  size_ = bytes;
}

Scratch& Scratch::operator=(Scratch&& other) noexcept {
  give_back();
  size_ = other.size_;
  data_ = std::move(other.data_);
  return *this;
}

Scratch::~Scratch() { give_back(); }

void Scratch::give_back() noexcept {
  if (data_ == nullptr || size_ > largest_kept) {
    return;
  }
  auto& kept = pieces();
  Piece& least = *std::min_element(kept.begin(), kept.end(),
                                   [](const Piece& left, const Piece& right) { return left.size < right.size; });
  if (least.size < size_) {
    least.size = size_;
    least.data = std::move(data_);
  }
}

}  // namespace smd::detail::reduce
