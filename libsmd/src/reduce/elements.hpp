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

namespace smd::detail::reduce {

/// Whether a float holds every element of a real storage type.
inline bool fits_float(Dtype type) noexcept { return type == Dtype::float32 || item_size(type) <= 2; }

/// Elements of a real storage type, seen as T: as float if that holds them all, else as double (64-bit integers are
/// rounded). Those that are T are read where they are, others become T part by part.
template <class T>
class Elements {
 public:
  /// @param source `n` elements, not necessarily aligned, which outlive this.
  Elements(Dtype type, const std::byte* source, std::size_t n) noexcept : type_(type), source_(source), n_(n) {}

  [[nodiscard]] std::size_t size() const noexcept { return n_; }

  /// Hands those from `first` on, `n` in all, to use(bytes, n), in parts of at most 16,384; the bytes are those of T,
  /// not necessarily aligned.
  template <class Use>
  void each_part(std::size_t first, std::size_t n, const Use& use) const {
    if (as_they_are()) {
      constexpr std::size_t part = 16384;
      for (std::size_t at = first; at < first + n; at += part) {
        use(source_ + at * sizeof(T), std::min(part, first + n - at));
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

  /// Those at some places, at most `block_size`.
  void gather(std::span<const std::size_t> places, T* out) const {
    if (as_they_are()) {
      for (const std::size_t place : places) {
        std::memcpy(out++, source_ + place * sizeof(T), sizeof(T));
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
  [[nodiscard]] bool as_they_are() const noexcept {
    constexpr Dtype own = std::is_same_v<T, float> ? Dtype::float32 : Dtype::float64;
    return type_ == own;
  }
  void convert(const std::byte* source, std::size_t n, T* out) const noexcept {
    if constexpr (std::is_same_v<T, float>) {
      kernels().to_floats(type_, source, n, out);
    } else {
      to_doubles(type_, source, n, out);
    }
  }

  Dtype type_;
  const std::byte* source_;
  std::size_t n_;
};

}  // namespace smd::detail::reduce
