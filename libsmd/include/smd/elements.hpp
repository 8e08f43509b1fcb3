// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/export.hpp>
#include <smd/tensor_view.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// The elements of a view as doubles, whatever their type: for code that looks at elements one by one. To reduce a
/// view, see `reduction.hpp`, which is faster and more exact.
namespace smd {

/// Returns the number of whole elements in a view: that of its shape, but no more than its bytes hold.
[[nodiscard]] SMD_EXPORT std::uint64_t element_count(const TensorView& view) noexcept;

/// Writes the elements from `first` on into `into`, each as the nearest double (64-bit integers are rounded, booleans
/// are 0 or 1), and returns how many: `into.size()`, or fewer at the end of the view. In C order.
/// @throws InvalidArgument for text and complex numbers.
SMD_EXPORT std::size_t copy_as_doubles(const TensorView& view, std::uint64_t first, std::span<double> into);

/// Returns all elements. @throws as `copy_as_doubles`.
[[nodiscard]] SMD_EXPORT std::vector<double> to_doubles(const TensorView& view);

}  // namespace smd
