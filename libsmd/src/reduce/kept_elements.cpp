// SPDX-License-Identifier: Apache-2.0
#include "reduce/kept_elements.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

namespace smd::detail::reduce {

template <class T>
void KeptElements<T>::append(Dtype type, const std::byte* source, std::size_t n) {
  Elements<T>(type, source, n).each_part(0, n, [this](const std::byte* part, std::size_t size) { append(part, size); });
}

template <class T>
void KeptElements<T>::append(const KeptElements& other) {
  const Elements<T> all = other.elements();
  all.each_part(0, all.size(), [this](const std::byte* part, std::size_t size) { append(part, size); });
}

template <class T>
void KeptElements<T>::append(KeptElements&& other) {
  if (empty()) {
    pieces_.swap(other.pieces_);
    return;
  }
  if (other.empty()) {
    return;
  }
  const std::vector<T> last = std::move(other.pieces_.back());
  other.pieces_.pop_back();
  // Before the last one, which need not be whole.
  pieces_.insert(pieces_.end() - 1, std::make_move_iterator(other.pieces_.begin()),
                 std::make_move_iterator(other.pieces_.end()));
  other.pieces_.clear();
  append(reinterpret_cast<const std::byte*>(last.data()), last.size());
}

template <class T>
void KeptElements<T>::append(const std::byte* values, std::size_t n) {
  constexpr std::size_t piece_size = Elements<T>::piece_size;
  while (n > 0) {
    if (pieces_.empty() || pieces_.back().size() == piece_size) {
      pieces_.emplace_back();
      // The first one grows by need: most tensors are small. Whoever has a second is likely to have more.
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
void KeptElements<T>::clear() noexcept {
  if (!pieces_.empty()) {
    pieces_.erase(pieces_.begin() + 1, pieces_.end());
    pieces_.front().clear();
  }
}

template class KeptElements<float>;
template class KeptElements<double>;

}  // namespace smd::detail::reduce
