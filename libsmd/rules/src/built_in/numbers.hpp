// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/dtype.hpp>
#include <smd/elements.hpp>
#include <smd/tensor_view.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace smd::detail::rules {

/// Returns elements of 16-bit floating point as floats, which hold them exactly.
[[nodiscard]] std::vector<float> widen(const TensorView& view);

/// Calls `f(elements, count)` with a pointer to the elements in their own type, for loops that the compiler can turn
/// into vector code; 16-bit floating point is passed as float, booleans as std::uint8_t 0 or 1. Precondition: a real
/// type, and bytes aligned to it, as those of `StepView::value` are.
template <class F>
decltype(auto) with_elements(const TensorView& view, F&& f) {
  const void* const data = view.bytes().data();
  const auto n = static_cast<std::size_t>(view.size());
  switch (storage_type(view.dtype())) {
    case Dtype::float64:
      return f(static_cast<const double*>(data), n);
    case Dtype::int8:
      return f(static_cast<const std::int8_t*>(data), n);
    case Dtype::boolean:
    case Dtype::uint8:
      return f(static_cast<const std::uint8_t*>(data), n);
    case Dtype::int16:
      return f(static_cast<const std::int16_t*>(data), n);
    case Dtype::uint16:
      return f(static_cast<const std::uint16_t*>(data), n);
    case Dtype::int32:
      return f(static_cast<const std::int32_t*>(data), n);
    case Dtype::uint32:
      return f(static_cast<const std::uint32_t*>(data), n);
    case Dtype::int64:
      return f(static_cast<const std::int64_t*>(data), n);
    case Dtype::uint64:
      return f(static_cast<const std::uint64_t*>(data), n);
    case Dtype::float16:
    case Dtype::bfloat16: {
      const std::vector<float> wide = widen(view);
      return f(wide.data(), n);
    }
    default:
      return f(static_cast<const float*>(data), n);
  }
}

}  // namespace smd::detail::rules
