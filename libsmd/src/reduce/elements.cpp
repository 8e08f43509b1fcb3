// SPDX-License-Identifier: Apache-2.0
#include <smd/elements.hpp>

#include <smd/error.hpp>

#include "reduce/doubles.hpp"

#include <algorithm>

namespace smd {

using detail::reduce::block_padding;
using detail::reduce::block_size;
using detail::reduce::whole_elements;

void refuse_elements(Dtype dtype) {
  throw InvalidArgument("elements of type " + std::string(to_string(dtype)) + " are no real numbers");
}

std::size_t copy_as_doubles(const TensorView& view, std::uint64_t first, std::span<double> into) {
  if (!is_real(view.dtype())) {
    refuse_elements(view.dtype());
  }
  const std::size_t item = item_size(view.dtype());
  const std::uint64_t there = whole_elements(view);
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), first < there ? there - first : 0));
  alignas(64) double block[block_size + block_padding];
  for (std::size_t at = 0; at < count; at += block_size) {
    const std::size_t n = std::min(block_size, count - at);
    const std::byte* const source = view.bytes().data() + (static_cast<std::size_t>(first) + at) * item;
    if (into.size() - at >= n + block_padding) {  // room for what a kernel may write past the block
      detail::reduce::to_doubles(view.dtype(), source, n, into.data() + at);
    } else {
      detail::reduce::to_doubles(view.dtype(), source, n, block);
      std::copy_n(block, n, into.data() + at);
    }
  }
  return count;
}

std::vector<double> to_doubles(const TensorView& view) {
  std::vector<double> all(whole_elements(view));
  copy_as_doubles(view, 0, all);
  return all;
}

double TensorValue::item() const {
  if (!is_real(dtype_) || whole_elements(view()) != 1) {
    throw InvalidArgument("a value of type " + std::string(to_string(dtype_)) + " and shape " + to_string(shape_) +
                          " is not one number");
  }
  return visit_numbers(view(), [](const auto& elements) { return static_cast<double>(elements[0]); });
}

}  // namespace smd
