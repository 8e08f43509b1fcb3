// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/export.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace smd {

/// Sizes of the axes, outermost first; empty for a scalar (0-dimensional) tensor. Never negative.
using Shape = std::vector<std::int64_t>;

/// Returns the number of elements: the product of the sizes, 1 for a scalar, 0 if any size is 0. Returns nullopt if a
/// size is negative or the product of the others does not fit 63 bits.
[[nodiscard]] SMD_EXPORT std::optional<std::uint64_t> element_count(const Shape& shape) noexcept;

/// Returns the strides of a whole value in C order, in elements; zeros if it has no elements.
[[nodiscard]] SMD_EXPORT std::vector<std::int64_t> whole_strides(const Shape& shape);

/// Returns `64x3x7x7`, or `scalar` for the empty shape.
[[nodiscard]] SMD_EXPORT std::string to_string(const Shape& shape);

}  // namespace smd
