// SPDX-License-Identifier: Apache-2.0
#include "draw/curve.hpp"
#include "draw/drawing.hpp"

#include "cli/number_format.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace smd::tool {

namespace {

constexpr std::size_t most_bars_drawn = 400;  // more would be narrower than their edges

// The outline of bars that cannot be told apart.
void draw_outline(Drawing& to, const BarSet& bars, const PlotFrame& frame) {
  std::vector<ChartPoint> points;
  for (std::size_t bin = 0; bin < bars.counts.size(); ++bin) {
    points.push_back({bars.edges[bin] / 2 + bars.edges[bin + 1] / 2, bars.counts[bin]});
  }
  std::string path = fmt::format("M{} {}", coordinate(frame.x.place(points.front().x)), coordinate(frame.y.place(0)));
  for (const std::size_t at : thinned(points, frame.x)) {
    path += fmt::format("L{} {}", coordinate(frame.x.place(points[at].x)), coordinate(frame.y.place(points[at].y)));
  }
  to.out += fmt::format("<path class=\"bar\" d=\"{}V{}Z\"/>\n", path, coordinate(frame.y.place(0)));
}

}  // namespace

void draw_content(Drawing& to, const Chart& chart, const BarSet& all) {
  const auto filled = [](double count) { return count > 0; };
  const auto first = std::ranges::find_if(all.counts, filled);
  const auto last = std::find_if(all.counts.rbegin(), all.counts.rend(), filled).base();
  // Saved buckets reach as far as doubles do: those at the ends that are empty are not drawn.
  const bool none = first == all.counts.end();
  const auto begin = none ? 0 : first - all.counts.begin();
  const auto end = none ? static_cast<std::ptrdiff_t>(all.counts.size()) : last - all.counts.begin();
  const BarSet bars = {{all.edges.begin() + begin, all.edges.begin() + end + 1},
                       {all.counts.begin() + begin, all.counts.begin() + end}};
  AxisRange x;
  AxisRange y;
  x.add_finite(bars.edges);
  y.add(0);
  y.add_finite(bars.counts);
  const PlotFrame frame = put_frame(to, chart, x, y, 0.02);
  if (bars.counts.size() > most_bars_drawn) {
    draw_outline(to, bars, frame);
    return;
  }
  for (std::size_t bin = 0; bin < bars.counts.size(); ++bin) {
    if (bars.counts[bin] > 0) {
      // A bucket without width must be visible too.
      const double room = bars.edges[bin] == bars.edges[bin + 1] ? 1.5 : 0;
      const double left = frame.x.place(bars.edges[bin]) - room;
      const double right = frame.x.place(bars.edges[bin + 1]) + room;
      const double top = frame.y.place(bars.counts[bin]);
      to.out += fmt::format(
          "<rect class=\"bar\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"><title>{} to {}: {}</title></rect>\n",
          coordinate(left), coordinate(top), coordinate(std::max(right - left, 1.0)),
          coordinate(std::max(frame.y.place(0) - top, 0.75)), number_text(bars.edges[bin]),
          number_text(bars.edges[bin + 1]), number_text(bars.counts[bin]));
    }
  }
}

}  // namespace smd::tool
