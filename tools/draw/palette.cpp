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

// Selectors stay simple: not every program that shows SVG knows variables.
constexpr std::string_view style =
    R"(.chart{font:13px system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","DejaVu Sans",sans-serif}
.chart text{fill:#1b1e23;unicode-bidi:isolate}
.chart .title{font-weight:600;font-size:15px}
.chart .quiet{fill:#555b66}
.chart .paper{fill:#fff}
.chart .grid{stroke:#dfe2e7;stroke-width:1;fill:none}
.chart .axis{stroke:#7a808c;stroke-width:1;fill:none}
.chart .curve,.chart .dot,.chart .mark,.chart .end{fill:none;stroke-width:1.8;stroke-linejoin:round;stroke-linecap:round}
.chart .dot{stroke-width:4.5}
.chart .end{stroke-width:1.2}
.chart .faint{stroke:#7a808c;stroke-width:1;stroke-opacity:.45}
.chart .dashed{stroke-dasharray:7 4}
.chart .dotted{stroke-dasharray:1.5 4}
.chart .dash_dotted{stroke-dasharray:9 4 1.5 4}
.chart .band{fill-opacity:.22}
.chart .bar{fill:#0072b2;stroke:#fff;stroke-width:.5}
.chart .finding{stroke:#d55e00;stroke-width:1.4;stroke-dasharray:3 3;fill:none}
.chart .flag{fill:#d55e00}
.chart .image{image-rendering:pixelated}
.chart .c0{stroke:#0072b2}.chart .f0{fill:#0072b2}
.chart .c1{stroke:#d55e00}.chart .f1{fill:#d55e00}
.chart .c2{stroke:#009e73}.chart .f2{fill:#009e73}
.chart .c3{stroke:#cc79a7}.chart .f3{fill:#cc79a7}
.chart .c4{stroke:#e69f00}.chart .f4{fill:#e69f00}
.chart .c5{stroke:#56b4e9}.chart .f5{fill:#56b4e9}
.chart .c6{stroke:#1b1e23}.chart .f6{fill:#1b1e23}
@media screen and (prefers-color-scheme:dark){
.chart text{fill:#e8eaee}
.chart .quiet{fill:#a9afba}
.chart .paper{fill:#16181d}
.chart .grid{stroke:#2e323a}
.chart .axis,.chart .faint{stroke:#8b919d}
.chart .bar{fill:#56b4e9;stroke:#16181d}
.chart .c0{stroke:#2b8fd0}.chart .f0{fill:#2b8fd0}
.chart .c6{stroke:#e8eaee}.chart .f6{fill:#e8eaee}
}
)";

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

std::string_view chart_style() noexcept { return style; }

}  // namespace smd::tool
