// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace smd::detail::reduce {

/// Linear interpolation between the two elements (of `magnitude`: of their |x|) around a percentile, as
/// numpy.percentile in float64. NaN are passed over. The elements, `n` of type T, need not be aligned and are not
/// changed; memory: up to as much again.
/// @param others number of elements that are not NaN; 0 gives NaN.
template <class T>
double percentile(const std::byte* source, std::size_t n, std::size_t others, bool magnitude, double percent);

extern template double percentile<float>(const std::byte*, std::size_t, std::size_t, bool, double);
extern template double percentile<double>(const std::byte*, std::size_t, std::size_t, bool, double);

}  // namespace smd::detail::reduce
