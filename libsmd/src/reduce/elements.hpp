// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/dtype.hpp>

#include "reduce/doubles.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>

namespace smd::detail::reduce {

/// Elements of any real storage type, seen as T: float32 as float, all others as double, which is what float64 is and
/// the rest become part by part.
template <class T>
class Elements {
 public:
  /// @param source `n` elements, not necessarily aligned, which outlive this. T is float for float32 only.
  Elements(Dtype type, const std::byte* source, std::size_t n) noexcept : type_(type), source_(source), n_(n) {}

  [[nodiscard]] std::size_t size() const noexcept { return n_; }

  /// Hands those from `first` on, `n` in all, to use(bytes, n), in parts that stay in the first-level cache while they
  /// are used; the bytes are those of T, not necessarily aligned.
  template <class Use>
  void each_part(std::size_t first, std::size_t n, const Use& use) const {
    if (as_they_are()) {
      constexpr std::size_t part = 16384;
      for (std::size_t at = first; at < first + n; at += part) {
        use(source_ + at * sizeof(T), std::min(part, first + n - at));
      }
      return;
    }
    alignas(64) double values[block_size + block_padding];
    for (std::size_t at = first; at < first + n; at += block_size) {
      const std::size_t size = std::min(block_size, first + n - at);
      to_doubles(type_, source_ + at * item_size(type_), size, values);
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
    alignas(64) double values[block_size + block_padding];
    to_doubles(type_, raw, places.size(), values);
    std::copy_n(values, places.size(), out);
  }

 private:
  [[nodiscard]] bool as_they_are() const noexcept { return std::is_same_v<T, float> || type_ == Dtype::float64; }

  Dtype type_;
  const std::byte* source_;
  std::size_t n_;
};

}  // namespace smd::detail::reduce
