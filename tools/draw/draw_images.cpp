// SPDX-License-Identifier: Apache-2.0
#include "cli/escape.hpp"
#include "draw/drawing.hpp"
#include "draw/palette.hpp"
#include "draw/png.hpp"
#include "draw/text_fit.hpp"

#include "cli/mapped.hpp"
#include "cli/number_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace smd::tool {

namespace {

constexpr double tile_gap = 8;
constexpr double caption_height = 17;
constexpr double largest_cell = 28;
constexpr double tallest_tile = 420;
constexpr double least_tile = 64;

std::vector<double> levels_of(const ImageTile& tile, const AxisRange& extent) {
  return mapped(tile.numbers, [&](double number) {
    const double level = extent.low < extent.high ? extent.part_of(number) : std::isnan(number) ? number : 0.5;
    return std::isnan(level) ? level : std::clamp(level, 0.0, 1.0);
  });
}

}  // namespace

void draw_content(Drawing& to, const Chart&, const ImageGrid& grid) {
  AxisRange extent;
  bool no_number = false;
  std::size_t widest = 1;
  for (const ImageTile& tile : grid.tiles) {
    widest = std::max(widest, tile.columns);
    no_number = no_number || std::ranges::any_of(tile.numbers, [](double number) { return std::isnan(number); });
    extent.add_finite(tile.numbers);
  }
  // Tiles form nearly a square as far as they stay visible, with at least as many in a row as fit at their largest.
  const auto count = static_cast<double>(grid.tiles.size());
  const double full = static_cast<double>(widest) * largest_cell + tile_gap;
  const double most = std::floor((to.width + tile_gap) / (least_tile + tile_gap));
  const double in_row =
      std::clamp(std::max(std::ceil(std::sqrt(count)), std::floor((to.width + tile_gap) / full)), 1.0, most);
  const auto across = static_cast<std::size_t>(in_row);
  const double room = (to.width + tile_gap) / in_row - tile_gap;
  to.y += 6;
  for (std::size_t first = 0; first < grid.tiles.size(); first += across) {
    double tallest = 0;
    bool captions = false;
    for (std::size_t i = first; i < std::min(first + across, grid.tiles.size()); ++i) {
      const ImageTile& tile = grid.tiles[i];
      const auto columns = static_cast<double>(tile.columns);
      const double width = std::min(room, columns * largest_cell);
      const double height = std::clamp(width * static_cast<double>(tile.rows) / columns, 14.0, tallest_tile);
      const double x = static_cast<double>(i - first) * (room + tile_gap);
      put_image(to, x, to.y, width, height,
                png_base64(levels_of(tile, extent), tile.rows, tile.columns, &no_number_color),
                fmt::format("<title>{}</title>", xml(tile.caption)));
      if (!tile.caption.empty()) {
        put_text(to, x, to.y + height + 13, "quiet", shortened(tile.caption, room / 13));
        captions = true;
      }
      tallest = std::max(tallest, height);
    }
    to.y += tallest + (captions ? caption_height : 0) + tile_gap;
  }
  if (!extent.empty()) {
    put_shades(to, number_text(extent.low, 4), number_text(extent.high, 4), "");
  }
  if (no_number) {
    const LegendEntry entry = {"not a number (NaN)",
                               fmt::format(R"(<path fill="{}" d="M7 0h10v10h-10z"/>)", color_text(no_number_color))};
    put_legend(to, {&entry, 1});
  }
}

}  // namespace smd::tool
