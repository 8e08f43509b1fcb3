// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/elements.hpp>

#include "reduce/kernels.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace smd::detail::reduce {

/// Converts 64-bit integers to doubles, each rounded to nearest.
inline void round_integers(bool is_signed, const std::byte* source, std::size_t n, double* out) noexcept {
  for (std::size_t i = 0; i < n; ++i) {
    std::uint64_t bits;
    std::memcpy(&bits, source + i * sizeof bits, sizeof bits);
    out[i] = is_signed ? static_cast<double>(static_cast<std::int64_t>(bits)) : static_cast<double>(bits);
  }
  std::fill(out + n, out + n + block_padding / 2, 0.0);
}

/// Converts at most `block_size` elements of a real type, each to the nearest double, and fills the padding with zeros.
inline void to_doubles(Dtype type, const std::byte* source, std::size_t n, double* out) {
  if (type == Dtype::int64 || type == Dtype::uint64) {
    round_integers(type == Dtype::int64, source, n, out);
  } else {
    BlockRange range;
    kernels().decode(type, source, n, out, range);
  }
}

/// Converts elements of a real or complex type to their real and imaginary parts.
inline void to_parts(Dtype type, const std::byte* source, std::size_t n, double* real, double* imaginary) {
  const std::array<std::int64_t, 1> shape = {static_cast<std::int64_t>(n)};
  visit_elements({type, shape, {source, n * item_size(type)}}, [&](const auto& elements) {
    using Number = decltype(elements[0]);
    for (std::size_t i = 0; i < n; ++i) {
      if constexpr (std::is_arithmetic_v<Number>) {
        real[i] = static_cast<double>(elements[i]);
        imaginary[i] = 0;
      } else if constexpr (!std::is_same_v<Number, std::string_view>) {
        real[i] = static_cast<double>(elements[i].real());
        imaginary[i] = static_cast<double>(elements[i].imag());
      }
    }
  });
}

/// Calls use(values, n) for all elements of a real view, converted to doubles, block by block.
template <class Use>
void for_doubles(const TensorView& view, const Use& use) {
  const std::size_t item = item_size(view.dtype());
  const auto size = static_cast<std::size_t>(element_count(view));
  alignas(64) double values[block_size + block_padding];
  for (std::size_t start = 0; start < size; start += block_size) {
    const std::size_t n = std::min(block_size, size - start);
    to_doubles(view.dtype(), view.bytes().data() + start * item, n, values);
    use(static_cast<const double*>(values), n);
  }
}

}  // namespace smd::detail::reduce
