// SPDX-License-Identifier: Apache-2.0
#include "reduce/kept_elements.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <span>
#include <utility>

namespace smd::detail::reduce {

template <class T>
void KeptElements<T>::append(KeptElements&& other) {
  if (empty()) {
    pieces_.swap(other.pieces_);
    return;
  }
  if (other.empty()) {
    return;
  }
  std::vector<std::vector<T>>& pieces = other.pieces_;
  pieces_.reserve(pieces_.size() + pieces.size());  // nothing can fail after the next line
  append_all(RealElements<T>(std::span(pieces).last(1)));
  // Before the last piece, which may be incomplete.
  pieces_.insert(pieces_.end() - 1, std::make_move_iterator(pieces.begin()), std::make_move_iterator(pieces.end() - 1));
  pieces.clear();
}

template <class T>
void KeptElements<T>::append_all(const RealElements<T>& elements) {
  const std::size_t before = size();
  try {
    elements.each_part(0, elements.size(), [this](const std::byte* part, std::size_t n) { append(part, n); });
  } catch (...) {
    cut(before);
    throw;
  }
}

template <class T>
void KeptElements<T>::append(const std::byte* values, std::size_t n) {
  constexpr std::size_t piece_size = RealElements<T>::piece_size;
  while (n > 0) {
    if (pieces_.empty() || pieces_.back().size() == piece_size) {
      pieces_.emplace_back();
      // The first piece grows as needed, because most tensors are small. A second piece makes further ones likely.
      if (pieces_.size() > 1) {
        pieces_.back().reserve(piece_size);
      }
    }
    std::vector<T>& piece = pieces_.back();
    const std::size_t at = piece.size();
    const std::size_t fits = std::min(n, piece_size - at);
    piece.resize(at + fits);
    std::memcpy(piece.data() + at, values, fits * sizeof(T));
    values += fits * sizeof(T);
    n -= fits;
  }
}

template <class T>
void KeptElements<T>::cut(std::size_t size) noexcept {
  constexpr std::size_t piece_size = RealElements<T>::piece_size;
  const std::size_t pieces = std::max<std::size_t>((size + piece_size - 1) / piece_size, 1);
  if (pieces_.size() > pieces) {
    pieces_.erase(pieces_.begin() + static_cast<std::ptrdiff_t>(pieces), pieces_.end());
  }
  if (pieces_.size() == pieces) {
    pieces_.back().resize(size - (pieces - 1) * piece_size);
  }
}

void KeptForPercentiles::append(const KeptForPercentiles& other) {
  const std::size_t before = narrow.size();
  narrow.append(other.narrow);
  try {
    wide.append(other.wide);
  } catch (...) {
    narrow.cut(before);
    throw;
  }
}

void KeptForPercentiles::append(KeptForPercentiles&& other) {
  if (!other.narrow.empty() && !other.wide.empty()) {
    append(std::as_const(other));  // elements that were moved could not be restored on failure
  } else {
    narrow.append(std::move(other.narrow));
    wide.append(std::move(other.wide));
  }
  other.clear();
}

template class KeptElements<float>;
template class KeptElements<double>;

}  // namespace smd::detail::reduce
