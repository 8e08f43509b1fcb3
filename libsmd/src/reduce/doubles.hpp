// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/tensor_view.hpp>

#include "reduce/kernels.hpp"

#include <algorithm>
#include <cstring>

namespace smd::detail::reduce {

/// Returns the number of whole elements in a view: as many as its shape says, but never more than its bytes hold.
inline std::size_t element_count_of(const TensorView& view) noexcept {
  const std::size_t item = item_size(view.dtype());
  return item == 0 ? 0 : static_cast<std::size_t>(std::min<std::uint64_t>(view.size(), view.bytes().size() / item));
}

/// Converts 64-bit integers to doubles, each rounded to nearest.
inline void round_integers(bool is_signed, const std::byte* source, std::size_t n, double* out) noexcept {
  for (std::size_t i = 0; i < n; ++i) {
    std::uint64_t bits;
    std::memcpy(&bits, source + i * sizeof bits, sizeof bits);
    out[i] = is_signed ? static_cast<double>(static_cast<std::int64_t>(bits)) : static_cast<double>(bits);
  }
  std::fill(out + n, out + n + block_padding / 2, 0.0);
}

/// Converts at most `block_size` elements of a real storage type, each to the nearest double, and fills the padding
/// with zeros.
inline void to_doubles(Dtype type, const std::byte* source, std::size_t n, double* out) noexcept {
  if (type == Dtype::int64 || type == Dtype::uint64) {
    round_integers(type == Dtype::int64, source, n, out);
  } else {
    BlockRange range;
    kernels().decode(type, source, n, out, range);
  }
}

/// Calls use(values, n) for all elements of a real view, converted to doubles, block by block.
template <class Use>
void for_doubles(const TensorView& view, const Use& use) {
  const Dtype type = storage_type(view.dtype());
  const std::size_t item = item_size(type);
  const std::size_t size = element_count_of(view);
  alignas(64) double values[block_size + block_padding];
  for (std::size_t start = 0; start < size; start += block_size) {
    const std::size_t n = std::min(block_size, size - start);
    to_doubles(type, view.bytes().data() + start * item, n, values);
    use(static_cast<const double*>(values), n);
  }
}

/// Returns the first element as a double. Precondition: a real type and at least one element.
inline double first_number(const TensorView& view) {
  double first = 0;
  for_doubles(TensorView(view.dtype(), {}, view.bytes()),
              [&](const double* values, std::size_t) { first = values[0]; });
  return first;
}

}  // namespace smd::detail::reduce
