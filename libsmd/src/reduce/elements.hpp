// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/dtype.hpp>

#include "reduce/doubles.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

namespace smd::detail::reduce {

/// Returns whether float represents every element of a real storage type.
inline bool fits_float(Dtype type) noexcept { return type == Dtype::float32 || item_size(type) <= 2; }

/// Elements of a real storage type, seen as T: float if it represents them all, otherwise double (64-bit integers are
/// rounded). Elements that are T already are read in place; others are converted part by part.
template <class T>
class RealElements {
 public:
  /// Length of every piece but the last, for elements that are not in one array.
  static constexpr std::size_t piece_size = 65536;
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

}  // namespace smd::detail::reduce
