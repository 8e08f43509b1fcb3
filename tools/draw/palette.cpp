// SPDX-License-Identifier: Apache-2.0
#include "draw/palette.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace smd::tool {

namespace {

constexpr std::array<Rgb, 9> viridis = {{{0x44, 0x01, 0x54},
                                         {0x47, 0x2D, 0x7B},
                                         {0x3B, 0x52, 0x8B},
                                         {0x2C, 0x72, 0x8E},
                                         {0x21, 0x91, 0x8C},
                                         {0x28, 0xAE, 0x80},
                                         {0x5E, 0xC9, 0x62},
                                         {0xAD, 0xDC, 0x30},
                                         {0xFD, 0xE7, 0x25}}};

}  // namespace

Rgb shade_of(double level) noexcept {
  const double place = std::clamp(level, 0.0, 1.0) * static_cast<double>(viridis.size() - 1);
  const std::size_t below = std::min(static_cast<std::size_t>(place), viridis.size() - 2);
  const double part = place - static_cast<double>(below);
  Rgb color = {};
  for (std::size_t i = 0; i < color.size(); ++i) {
    color[i] = static_cast<std::uint8_t>(std::lround(viridis[below][i] * (1 - part) + viridis[below + 1][i] * part));
  }
  return color;
}

std::string color_text(Rgb color) { return fmt::format("#{:02x}{:02x}{:02x}", color[0], color[1], color[2]); }

}  // namespace smd::tool
