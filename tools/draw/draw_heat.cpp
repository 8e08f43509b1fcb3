// SPDX-License-Identifier: Apache-2.0
#include "cli/mapped.hpp"
#include "draw/drawing.hpp"
#include "draw/png.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace smd::tool {

namespace {

// How far a step reaches to each side: half way to its nearest neighbour, so that a missing step leaves a gap.
double half_width(const HeatMap& map, std::size_t at) {
  constexpr double none = std::numeric_limits<double>::infinity();
  const std::vector<HeatColumn>& columns = map.columns;
  const double before = at == 0 ? none : columns[at].x - columns[at - 1].x;
  const double after = at + 1 == columns.size() ? none : columns[at + 1].x - columns[at].x;
  const double least = std::min(before, after);
  return std::isfinite(least) && least > 0 ? least / 2 : 0.5;
}

// The shares as pixels, which also thins the steps: a pixel has the mean over its steps; for a step, the share of the
// bin around the pixel, or of all bins within the pixel.
class ShareRaster {
 public:
  ShareRaster(const HeatMap& map, const PlotFrame& frame)
      : frame_(frame),
        columns_(static_cast<std::size_t>(std::ceil(frame.x.to() - frame.x.from()))),
        rows_(static_cast<std::size_t>(std::ceil((frame.y.from() - frame.y.to()) / 2))),
        shares_(columns_ * rows_, 0.0),
        steps_(columns_, 0) {
    for (std::size_t at = 0; at < map.columns.size(); ++at) {
      add(map.columns[at], half_width(map, at));
    }
    for (std::size_t place = 0; place < shares_.size(); ++place) {
      shares_[place] /= static_cast<double>(std::max<std::size_t>(steps_[place % columns_], 1));
      greatest_ = std::max(greatest_, shares_[place]);
    }
  }

  [[nodiscard]] double greatest() const noexcept { return greatest_; }

  [[nodiscard]] std::string png() const {
    const auto level = [this](double share) { return share > 0 ? share / greatest_ : std::nan(""); };
    return png_base64(mapped(shares_, level), rows_, columns_, nullptr);
  }

 private:
  [[nodiscard]] std::size_t column_of(double x) const {
    const double place = std::floor(frame_.x.place(x) - frame_.x.from());
    return static_cast<std::size_t>(std::clamp(place, 0.0, static_cast<double>(columns_ - 1)));
  }
  // The row, counted from above, not rounded.
  [[nodiscard]] double row_of(double y) const {
    return (frame_.y.place(y) - frame_.y.to()) / (frame_.y.from() - frame_.y.to()) * static_cast<double>(rows_);
  }

  void add(const HeatColumn& column, double half) {
    const double all = std::accumulate(column.counts.begin(), column.counts.end(), 0.0);
    if (!(all > 0)) {
      return;
    }
    std::vector<double> of_step(rows_, 0.0);
    for (std::size_t bin = 0; bin < column.counts.size(); ++bin) {
      if (!(column.counts[bin] > 0)) {
        continue;
      }
      const double last = static_cast<double>(rows_ - 1);
      const auto begin = static_cast<std::size_t>(std::clamp(std::round(row_of(column.edges[bin + 1])), 0.0, last));
      const auto end = static_cast<std::size_t>(std::clamp(std::round(row_of(column.edges[bin])), 0.0, last + 1));
      for (std::size_t row = begin; row < std::max(end, begin + 1); ++row) {
        of_step[row] += column.counts[bin] / all;
      }
    }
    const std::size_t first = column_of(column.x - half);
    const std::size_t last = std::max(column_of(column.x + half), first + 1);
    for (std::size_t at = first; at < std::min(last, columns_); ++at) {
      ++steps_[at];
      for (std::size_t row = 0; row < rows_; ++row) {
        shares_[row * columns_ + at] += of_step[row];
      }
    }
  }

  const PlotFrame& frame_;
  std::size_t columns_;
  std::size_t rows_;
  std::vector<double> shares_;
  std::vector<std::size_t> steps_;
  double greatest_ = 0;
};

}  // namespace

void draw_content(Drawing& to, const Chart& chart, const HeatMap& map) {
  AxisRange x;
  AxisRange y;
  for (std::size_t at = 0; at < map.columns.size(); ++at) {
    x.add(map.columns[at].x - half_width(map, at));
    x.add(map.columns[at].x + half_width(map, at));
    y.add(AxisRange::of_filled(map.columns[at].edges, map.columns[at].counts));
  }
  const PlotFrame frame = put_frame(to, chart, x, y, 0);
  const ShareRaster raster(map, frame);
  if (raster.greatest() > 0) {
    put_image(to, frame.x.from(), frame.y.to(), frame.x.to() - frame.x.from(), frame.y.from() - frame.y.to(),
              raster.png());
  }
  put_shades(to, "0 %", fmt::format("{:.3g} %", raster.greatest() * 100), "of the elements of a step, by bin");
}

}  // namespace smd::tool
