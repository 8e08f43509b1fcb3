// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "draw/palette.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace smd::tool {

/// A picture of `levels` (row by row, from 0 to 1, in the shades of `shade_of`; NaN: `nothing`, or transparent if that
/// is null) as the base64 text of a PNG with 256 colours (W3C, PNG Specification, third edition).
/// @pre levels.size() == rows * columns, and neither is 0.
[[nodiscard]] std::string png_base64(std::span<const double> levels, std::size_t rows, std::size_t columns,
                                     const Rgb* nothing);

/// Bytes as base64 (RFC 4648, section 4), padded.
[[nodiscard]] std::string base64(std::string_view bytes);

}  // namespace smd::tool
