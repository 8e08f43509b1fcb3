// SPDX-License-Identifier: Apache-2.0
// Pictures of the last two axes: --heatmap and pgm.
#include "plane_picture.hpp"
#include "value_view.hpp"

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <span>

namespace smd::tool::tensor {

namespace {

// Planes drawn unless --full asks for all.
constexpr std::uint64_t most_planes = 8;
constexpr std::uint64_t most_tiles = 256;  // in -f svg
// What -f svg can show of a plane, alone or beside others.
constexpr std::size_t chart_columns = 512;
constexpr std::size_t tile_columns = 128;

// From dark to bright: viridis, as near as the 256 colours of a terminal come.
constexpr std::array<int, 10> colors = {53, 54, 60, 24, 30, 36, 72, 77, 148, 220};
constexpr int nan_color = 160;

constexpr std::array<std::string_view, 10> ascii_shades = {" ", ".", ":", "-", "=", "+", "*", "#", "%", "@"};
constexpr std::array<std::string_view, 5> shades = {" ", "░", "▒", "▓", "█"};

std::span<const std::string_view> shades_in(bool ascii) {
  return ascii ? std::span<const std::string_view>(ascii_shades) : shades;
}

// Which of some steps a level is.
template <class Steps>
auto step_of(const Steps& steps, double level) {
  return steps[std::min(steps.size() - 1, static_cast<std::size_t>(level * static_cast<double>(steps.size())))];
}

std::string color_of(double level, bool background) {
  const int color = std::isnan(level) ? nan_color : step_of(colors, level);
  return (background ? "\x1b[48;5;" : "\x1b[38;5;") + std::to_string(color) + "m";
}

// Two rows to a line: the upper one is the half block, the lower one its background.
std::string colored(const PlanePicture& picture) {
  std::string text;
  for (std::size_t row = 0; row < picture.rows; row += 2) {
    for (std::size_t column = 0; column < picture.columns; ++column) {
      text += color_of(picture.at(row, column), false);
      text += row + 1 < picture.rows ? color_of(picture.at(row + 1, column), true) : "\x1b[49m";
      text += "▀";
    }
    text += "\x1b[0m\n";
  }
  return text;
}

// Two letters to a cell, which makes it about square.
std::string shaded(const PlanePicture& picture, bool ascii) {
  std::string text;
  for (std::size_t row = 0; row < picture.rows; ++row) {
    std::string line;
    for (std::size_t column = 0; column < picture.columns; ++column) {
      const double level = picture.at(row, column);
      const std::string_view shade = !std::isnan(level) ? step_of(shades_in(ascii), level) : ascii ? "?" : "×";
      line += shade;
      line += shade;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

/// --heatmap: the last two axes as a picture; one per plane. -f svg: a chart for each value.
class HeatmapView : public ValueView {
 public:
  explicit HeatmapView(ViewContext context)
      : context_(context),
        ascii_(context.options.output.terminal.ascii),
        color_(!ascii_ && !context.options.output.file &&
               use_color(context.options.output.terminal.color, STDOUT_FILENO)) {}

  void show(const ValueKey& key, const TensorValue& value) override {
    const Shape& shape = value.shape();
    if (!is_real(value.dtype()) || value.view().size() == 0) {
      context_.messages.warning(value_name(key) + ": no picture of " + std::string(to_string(value.dtype())) + " " +
                                to_string(shape));
      return;
    }
    const Elements elements(value.view());
    const GreyScale scale(elements);
    const std::size_t columns = shape.empty() ? 1 : static_cast<std::size_t>(shape.back());
    const std::size_t rows = shape.size() < 2 ? 1 : static_cast<std::size_t>(shape[shape.size() - 2]);
    const std::uint64_t planes = value.view().size() / (rows * columns);
    const int precision = context_.options.table_precision(4);
    if (context_.options.svg()) {
      add_chart(key, value, elements, rows, columns, planes);
      return;
    }
    std::string text = std::exchange(first_, false) ? "" : "\n";
    text += heading(key, value, ascii_) + "  " + number_text(scale.low(), precision) + " to " +
            number_text(scale.high(), precision) + "  " + legend() + "\n";
    const std::uint64_t drawn = context_.options.full ? planes : std::min(planes, most_planes);
    const std::size_t width = terminal_width(STDOUT_FILENO);
    for (std::uint64_t plane = 0; plane < drawn; ++plane) {
      text += planes > 1 ? plane_name(shape, plane) + "\n" : "";
      const PlanePicture picture = plane_picture(
          rows, columns, color_ ? width : std::max<std::size_t>(width / 2, 1),
          [&](std::size_t place) { return scale.level(elements.number(plane * rows * columns + place)); });
      text += color_ ? colored(picture) : shaded(picture, ascii_);
      context_.out.write(text);
      text.clear();
    }
    if (drawn < planes) {
      context_.out.write("(" + std::to_string(planes - drawn) + " more planes; --full draws all)\n");
    }
  }

  void finish() override {
    if (context_.options.svg()) {
      write_charts(context_.out, charts_, context_.options.picture, "choose values with -n, -e or -s");
    }
  }

 private:
  void add_chart(const ValueKey& key, const TensorValue& value, const Elements& elements, std::size_t rows,
                 std::size_t columns, std::uint64_t planes) {
    const std::uint64_t drawn = context_.options.full ? planes : std::min(planes, most_tiles);
    const std::size_t most_columns = planes == 1 ? chart_columns : tile_columns;
    ImageGrid grid;
    for (std::uint64_t plane = 0; plane < drawn; ++plane) {
      PlanePicture picture = plane_picture(rows, columns, most_columns, [&](std::size_t place) {
        return elements.number(plane * rows * columns + place);
      });
      grid.tiles.push_back({planes > 1 ? plane_name(value.shape(), plane) : "", picture.rows, picture.columns,
                            std::move(picture.levels)});
    }
    std::string subtitle = fmt::format("{}, {}, worker {}, {} {}", trial_, step_text(key), key.worker,
                                       to_string(value.dtype()), to_string(value.shape()));
    if (drawn < planes) {
      subtitle += fmt::format(", the first {} of {} planes (--full draws all)", drawn, planes);
    }
    charts_.push_back({.title = std::string(key.tensor), .subtitle = std::move(subtitle), .content = std::move(grid)});
  }

  [[nodiscard]] std::string legend() const {
    if (!color_) {
      return fmt::format("[{}]", fmt::join(shades_in(ascii_), ""));
    }
    std::string text;
    for (std::size_t i = 0; i < colors.size(); ++i) {
      text += color_of((static_cast<double>(i) + 0.5) / static_cast<double>(colors.size()), true) + " ";
    }
    return text + "\x1b[0m";
  }

  // `[0,3]`: the leading axes' places.
  static std::string plane_name(const Shape& shape, std::uint64_t plane) {
    return fmt::format("[{}]", fmt::join(index_of(plane, std::span(shape).first(shape.size() - 2)), ","));
  }

  ViewContext context_;
  bool ascii_;
  bool color_;
  bool first_ = true;
  std::vector<Chart> charts_;
};

/// pgm: two axes as an 8-bit grey image, least to greatest finite element; NaN is black.
class PgmView : public ValueView {
 public:
  explicit PgmView(ViewContext context) : context_(context) {}

  [[nodiscard]] bool plans() const override { return true; }
  void announce(const ValueKey& key) override { one_.announce(key); }

  void show(const ValueKey& key, const TensorValue& value) override {
    const Shape& shape = value.shape();
    refuse_if(!is_real(value.dtype()), "-f pgm: " + value_name(key) + " is of type " +
                                           std::string(to_string(value.dtype())) + ", not of real numbers");
    refuse_if(shape.size() != 2 || value.view().size() == 0,
              "-f pgm: " + value_name(key) + " has shape " + to_string(shape) + "; an image needs two axes" +
                  (shape.size() > 2    ? ": choose them with --slice, with a number for each other axis"
                   : shape.size() == 2 ? " that are not empty"
                                       : "; --heatmap draws fewer"));
    const Elements elements(value.view());
    const GreyScale scale(elements);
    context_.out.write("P5\n" + std::to_string(shape[1]) + " " + std::to_string(shape[0]) + "\n255\n");
    for (std::uint64_t place = 0; place < value.view().size(); ++place) {
      const double level = scale.level(elements.number(place));
      context_.out.put(static_cast<char>(std::isnan(level) ? 0 : std::lround(level * 255)));
    }
  }

 private:
  ViewContext context_;
  OneValue one_{"-f pgm", "choose one by name, -s and -w"};
};

}  // namespace

std::unique_ptr<ValueView> make_heatmap_view(ViewContext context) { return std::make_unique<HeatmapView>(context); }

std::unique_ptr<ValueView> make_pgm_view(ViewContext context) { return std::make_unique<PgmView>(context); }

}  // namespace smd::tool::tensor
