// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reduce/doubles.hpp"

#include <smd/dtype.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace smd::detail::reduce {

/// Returns whether float represents every element of a real storage type.
inline bool fits_float(Dtype type) noexcept { return type == Dtype::float32 || item_size(type) <= 2; }

/// Elements of a real storage type, seen as T: float if it represents them all, otherwise double (64-bit integers are
/// rounded). Elements that are T already are read in place; others are converted part by part.
template <class T>
class RealElements {
 public:
  /// Length of every piece but the last, for elements that are not in one array. With what malloc adds, a piece fits
  /// into whole pages.
  static constexpr std::size_t piece_size = 65536 - 16;
  static constexpr std::size_t longest_part = 16384;

  /// @param source `n` elements, not necessarily aligned; must outlive this object.
  RealElements(Dtype type, const std::byte* source, std::size_t n) noexcept : type_(type), source_(source), n_(n) {}
  /// @param pieces must outlive this object.
  explicit RealElements(std::span<const std::vector<T>> pieces) noexcept
      : type_(own_type),
        pieces_(pieces),
        n_(pieces.empty() ? 0 : (pieces.size() - 1) * piece_size + pieces.back().size()) {}

  [[nodiscard]] std::size_t size() const noexcept { return n_; }

  /// Calls use(bytes, n) for the `n` elements from `first` on, in parts of at most `longest_part`. The bytes are
  /// elements of T, not necessarily aligned.
  template <class Use>
  void each_part(std::size_t first, std::size_t n, const Use& use) const {
    if (as_they_are()) {
      for (std::size_t at = first; at < first + n;) {
        const std::size_t size = std::min({longest_part, first + n - at, side_by_side(at)});
        use(bytes_at(at), size);
        at += size;
      }
      return;
    }
    T values[block_size + block_padding];
    for (std::size_t at = first; at < first + n; at += block_size) {
      const std::size_t size = std::min(block_size, first + n - at);
      convert(source_ + at * item_size(type_), size, values);
      use(reinterpret_cast<const std::byte*>(values), size);
    }
  }

  /// Copies the elements at some places, at most `block_size`.
  void gather(std::span<const std::size_t> places, T* out) const {
    if (as_they_are()) {
      for (const std::size_t place : places) {
        std::memcpy(out++, bytes_at(place), sizeof(T));
      }
      return;
    }
    const std::size_t item = item_size(type_);
    std::byte raw[block_size * sizeof(std::uint64_t)];
    for (std::size_t i = 0; i < places.size(); ++i) {
      std::memcpy(raw + i * item, source_ + places[i] * item, item);
    }
    T values[block_size + block_padding];
    convert(raw, places.size(), values);
    std::copy_n(values, places.size(), out);
  }

 private:
  static constexpr Dtype own_type = std::is_same_v<T, float> ? Dtype::float32 : Dtype::float64;

  [[nodiscard]] bool as_they_are() const noexcept { return type_ == own_type; }
  // Both are for elements that need no conversion.
  [[nodiscard]] const std::byte* bytes_at(std::size_t place) const noexcept {
    return pieces_.empty() ? source_ + place * sizeof(T)
                           : reinterpret_cast<const std::byte*>(&pieces_[place / piece_size][place % piece_size]);
  }
  [[nodiscard]] std::size_t side_by_side(std::size_t place) const noexcept {
    return pieces_.empty() ? n_ - place : piece_size - place % piece_size;
  }
  void convert(const std::byte* source, std::size_t n, T* out) const {
    if constexpr (std::is_same_v<T, float>) {
      kernels().to_floats(type_, source, n, out);
    } else {
      to_doubles(type_, source, n, out);
    }
  }

  Dtype type_;
  const std::byte* source_ = nullptr;
  std::span<const std::vector<T>> pieces_;  // used instead of source_ if not empty
  std::size_t n_;
};

/// Elements that are kept until all have been added. They are stored in pieces: an array that grows needs memory for
/// itself and its copy.
template <class T>
class KeptElements {
 public:
  /// If memory runs out, functions that append change nothing.
  /// @param source `n` elements of a real storage type, not necessarily aligned.
  void append(Dtype type, const std::byte* source, std::size_t n) { append_all(RealElements<T>(type, source, n)); }
  void append(const KeptElements& other) { append_all(other.elements()); }
  /// As above, but moves most elements; changes their order.
  void append(KeptElements&& other) {
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
    pieces_.insert(pieces_.end() - 1, std::make_move_iterator(pieces.begin()),
                   std::make_move_iterator(pieces.end() - 1));
    pieces.clear();
  }

  /// Keeps the first `size` elements.
  void cut(std::size_t size) noexcept {
    constexpr std::size_t piece_size = RealElements<T>::piece_size;
    const std::size_t pieces = std::max<std::size_t>((size + piece_size - 1) / piece_size, 1);
    if (pieces_.size() > pieces) {
      pieces_.erase(pieces_.begin() + static_cast<std::ptrdiff_t>(pieces), pieces_.end());
    }
    if (pieces_.size() == pieces) {
      pieces_.back().resize(size - (pieces - 1) * piece_size);
    }
  }

  /// Keeps the memory of the first piece.
  void clear() noexcept { cut(0); }

  [[nodiscard]] bool empty() const noexcept { return pieces_.empty() || pieces_.front().empty(); }
  /// Valid until the next change.
  [[nodiscard]] RealElements<T> elements() const noexcept { return RealElements<T>(pieces_); }

  [[nodiscard]] std::size_t size() const noexcept { return elements().size(); }

 private:
  void append_all(const RealElements<T>& elements) {
    const std::size_t before = size();
    try {
      elements.each_part(0, elements.size(), [this](const std::byte* part, std::size_t n) { append(part, n); });
    } catch (...) {
      cut(before);
      throw;
    }
  }

  void append(const std::byte* values, std::size_t n) {
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

  std::vector<std::vector<T>> pieces_;
};

/// Elements for percentiles: narrow if float represents them exactly, otherwise rounded to double.
struct KeptForPercentiles {
  KeptElements<float> narrow;
  KeptElements<double> wide;

  void append(Dtype type, const std::byte* source, std::size_t n) {
    if (fits_float(type)) {
      narrow.append(type, source, n);
    } else {
      wide.append(type, source, n);
    }
  }
  void append(KeptForPercentiles&& other) {
    if (!other.narrow.empty() && !other.wide.empty()) {
      // Copies, because elements that were moved could not be restored on failure.
      const std::size_t before = narrow.size();
      narrow.append(std::as_const(other.narrow));
      try {
        wide.append(std::as_const(other.wide));
      } catch (...) {
        narrow.cut(before);
        throw;
      }
    } else {
      narrow.append(std::move(other.narrow));
      wide.append(std::move(other.wide));
    }
    other.clear();
  }

  void clear() noexcept {
    narrow.clear();
    wide.clear();
  }
};

}  // namespace smd::detail::reduce
