// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace smd::tool {

/// Red, green, blue.
using Rgb = std::array<std::uint8_t, 3>;

/// Colours that differ also for people who do not tell red from green or blue from yellow: those of M. Okabe and
/// K. Ito, "Color Universal Design" (2008), without yellow, which is lost on white; the last is the text's own colour.
/// In classes `c0`, `c1` … of lines and `f0`, `f1` … of areas.
inline constexpr std::size_t hues = 7;
/// How many dashes distinguish curves of one colour: those of `Dash`.
inline constexpr std::size_t dashes = 4;

/// From the least (0) to the greatest (1): viridis, by S. van der Walt and N. Smith (2015), brighter for greater
/// numbers, in print and for the colour-blind too.
[[nodiscard]] Rgb shade_of(double level) noexcept;
/// The colour of a cell without a number: vermillion, which is not one of the shades.
inline constexpr Rgb no_number_color = {0xD5, 0x5E, 0x00};
/// `#440154`.
[[nodiscard]] std::string color_text(Rgb color);

}  // namespace smd::tool
