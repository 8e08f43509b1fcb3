// SPDX-License-Identifier: Apache-2.0
#include "cli/escape.hpp"
#include "cli/mapped.hpp"
#include "draw/curve.hpp"
#include "draw/drawing.hpp"
#include "draw/palette.hpp"
#include "draw/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace smd::tool {

namespace {

constexpr std::size_t most_dotted = 40;  // curves of more points have no dots
constexpr std::array<std::string_view, 4> dash_classes = {"", " dashed", " dotted", " dash_dotted"};

// The mark for a point that has no place on the axis.
enum class Mark : std::uint8_t { nan, plus, minus, not_positive, gap, above, below };
constexpr std::size_t marks = 7;

struct MarkLook {
  std::string_view shape;  // a path around a place
  std::string_view meaning;
};
constexpr std::array<MarkLook, marks> looks = {{
    {"m-4 -4l8 8m0 -8l-8 8", "not a number (NaN)"},
    {"m0 -4l4.5 8h-9z", "infinite"},
    {"m0 4l4.5 -8h-9z", "minus infinite"},
    {"m-4.5 0h9", "zero or negative: no logarithm"},
    {"m-2.5 0a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0 -5 0", "gap: nothing saved in between"},
    {"m-5 5l5 -6l5 6", "above the range shown"},
    {"m-5 -5l5 6l5 -6", "below the range shown"},
}};

Mark mark_of(double number) noexcept {
  return std::isnan(number)   ? Mark::nan
         : std::isinf(number) ? (number > 0 ? Mark::plus : Mark::minus)
                              : Mark::not_positive;
}

// The range of finite numbers without single spikes.
AxisRange without_spikes(std::vector<double> numbers, AxisRange all) {
  constexpr std::size_t fewest = 20;  // fewer have no percentiles to speak of
  if (numbers.size() < fewest) {
    return all;
  }
  const auto at = [&](double part) {
    const double place = part * static_cast<double>(numbers.size() - 1);
    const auto nth = numbers.begin() + static_cast<std::ptrdiff_t>(part < 0.5 ? std::ceil(place) : std::floor(place));
    std::nth_element(numbers.begin(), nth, numbers.end());
    return *nth;
  };
  const double low = at(0.01);
  const double high = at(0.99);
  const double width = high - low;
  if (!(width > 0) || !std::isfinite(width)) {
    return all;
  }
  AxisRange range;
  for (const double number : numbers) {
    if (number >= low - width && number <= high + width) {
      range.add(number);
    }
  }
  return range;
}

// What lies beyond a robust axis is drawn at its edge.
double place_at_y(const PlotFrame& frame, double y) {
  return std::clamp(frame.y.place(y), frame.y.to(), frame.y.from());
}

// A place in hundredths of a pixel, as `coordinate` rounds.
using Place = ChartPoint;

Place place_of(const PlotFrame& frame, const ChartPoint& point) {
  return {std::round(100 * frame.x.place(point.x)), std::round(100 * place_at_y(frame, point.y))};
}

void append_place(std::string& to, char command, const Place& place, const Place& before = {}) {
  to += fmt::format("{}{} {}", command, coordinate((place.x - before.x) / 100), coordinate((place.y - before.y) / 100));
}

// A line through some points of which each column keeps those that matter, or back. From place to place it is relative,
// which takes fewer bytes.
void append_line(std::string& to, char command, const PlotFrame& frame, std::span<const ChartPoint> points,
                 bool back = false) {
  std::vector<std::size_t> kept = thinned(points, frame.x);
  if (back) {
    std::ranges::reverse(kept);
  }
  Place before;
  for (const std::size_t i : kept) {
    const Place place = place_of(frame, points[i]);
    append_place(to, command, place, before);
    before = place;
    command = 'l';
  }
}

// The line of a curve, the points that stand alone, and marks.
class CurvePaths {
 public:
  // `dotted`: points of short curves are dots.
  CurvePaths(const ChartCurve& curve, const PlotFrame& frame, bool dotted = true) : curve_(curve), frame_(frame) {
    const std::vector<JoinedPoints> parts = joined_points(curve, frame.y);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const std::span<const ChartPoint> points = parts[i].of(curve);
      if (points.size() == 1) {
        add_dot(points.front());
      } else {
        append_line(line_, 'M', frame, points);
      }
      if (i != 0 && parts[i - 1].end == parts[i].begin) {
        add_mark(Mark::gap, curve.points[parts[i - 1].end - 1]);
        add_mark(Mark::gap, curve.points[parts[i].begin]);
      }
    }
    if (dotted && curve.points.size() <= most_dotted) {
      dots_.clear();
      for (const ChartPoint& point : curve.points) {
        if (frame.y.shows(point.y)) {
          add_dot(point);
        }
      }
    }
    for (const ChartPoint& point : curve.points) {
      if (!frame.y.shows(point.y)) {
        add_mark(mark_of(point.y), point);
      } else if (const double y = frame.y.place(point.y); y < frame.y.to() - 0.5 || y > frame.y.from() + 0.5) {
        add_mark(y < frame.y.to() ? Mark::above : Mark::below, point);
      }
    }
  }

  void draw(Drawing& to, std::string_view color, std::string_view dash) const {
    to.out += fmt::format("<g><title>{}</title>", xml(curve_.name));
    add_path(to, fmt::format("curve {}{}", color, dash), line_);
    add_path(to, fmt::format("dot {}", color), dots_);
    for (const std::string& of_kind : marks_) {
      add_path(to, fmt::format("mark {}", color), of_kind);
    }
    to.out += "</g>\n";
  }

  void note_marks(std::array<bool, marks>& seen) const {
    for (std::size_t kind = 0; kind < marks; ++kind) {
      seen[kind] = seen[kind] || !marks_[kind].empty();
    }
  }

 private:
  static void add_path(Drawing& to, const std::string& classes, const std::string& path) {
    if (!path.empty()) {
      to.out += fmt::format(R"(<path class="{}" d="{}"/>)", classes, path);
    }
  }

  void add_dot(const ChartPoint& point) {
    append_place(dots_, 'M', place_of(frame_, point));
    dots_ += "h0";
  }

  // Adds at most one mark for each column, at the edge nearest to the number.
  void add_mark(Mark mark, const ChartPoint& point) {
    const auto kind = static_cast<std::size_t>(mark);
    const double x = frame_.x.place(point.x);
    if (mark != Mark::gap && last_mark_[kind] && std::floor(*last_mark_[kind]) == std::floor(x)) {
      return;
    }
    last_mark_[kind] = x;
    const bool at_top = mark == Mark::plus || mark == Mark::above;
    const double y = mark == Mark::gap ? place_at_y(frame_, point.y)
                     : at_top          ? frame_.y.to() + (mark == Mark::above ? 2 : 6)
                                       : frame_.y.from() - (mark == Mark::below ? 2 : 6);
    marks_[kind] += fmt::format("M{} {}{}", coordinate(x), coordinate(y), looks[kind].shape);
  }

  const ChartCurve& curve_;
  const PlotFrame& frame_;
  std::string line_;
  std::string dots_;
  std::array<std::string, marks> marks_;
  std::array<std::optional<double>, marks> last_mark_;
};

double last_finite(const ChartCurve& curve) {
  const auto last = std::find_if(curve.points.rbegin(), curve.points.rend(),
                                 [](const ChartPoint& point) { return std::isfinite(point.y); });
  return last == curve.points.rend() ? 0 : last->y;
}

// If curves are too many to be told apart, the ones to show first: those that are not finite everywhere, then
// alternately those that end highest and lowest.
std::vector<std::size_t> most_notable(const std::vector<ChartCurve>& curves) {
  std::vector<std::size_t> chosen;
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const bool finite =
        std::ranges::all_of(curves[i].points, [](const ChartPoint& point) { return std::isfinite(point.y); });
    if (!curves[i].pale) {
      (finite ? others : chosen).push_back(i);
    }
  }
  std::ranges::stable_sort(others, std::greater(), [&](std::size_t i) { return last_finite(curves[i]); });
  for (std::size_t turn = 0; chosen.size() < hues && turn < others.size(); ++turn) {
    chosen.push_back(others[turn % 2 == 0 ? turn / 2 : others.size() - 1 - turn / 2]);
  }
  chosen.resize(std::min(chosen.size(), hues));
  return chosen;
}

std::string line_sign(std::string_view color, std::string_view dash) {
  return fmt::format(R"(<path class="curve {}{}" d="M1 5H24"/>)", color, dash);
}

// Draws the legend of the marks that were drawn. `all`: of numbers beyond the range shown too.
void put_mark_legend(Drawing& to, const std::array<bool, marks>& seen, AxisRange all) {
  std::vector<LegendEntry> entries;
  for (std::size_t kind = 0; kind < marks; ++kind) {
    if (seen[kind]) {
      std::string meaning(looks[kind].meaning);
      if (kind == static_cast<std::size_t>(Mark::above)) {
        meaning += fmt::format(", up to {:.4g}", all.high);
      } else if (kind == static_cast<std::size_t>(Mark::below)) {
        meaning += fmt::format(", down to {:.4g}", all.low);
      }
      entries.push_back({std::move(meaning), fmt::format(R"(<path class="mark c6" d="M12 5{}"/>)", looks[kind].shape)});
    }
  }
  if (!entries.empty()) {
    put_legend(to, entries);
  }
}

}  // namespace

AxisRanges ranges_of(std::span<const ChartCurve> curves, const ChartAxis& y) {
  AxisRanges ranges;
  std::vector<double> numbers;
  const Scale scale(y, {1, 2}, 0, 1);
  for (const ChartCurve& curve : curves) {
    for (const ChartPoint& point : curve.points) {
      ranges.x.add(point.x);
      if (scale.shows(point.y)) {
        ranges.y.add(point.y);
        numbers.push_back(point.y);
      }
    }
  }
  if (y.robust && y.scale == ScaleKind::linear) {
    ranges.y = without_spikes(std::move(numbers), ranges.y);
  }
  return ranges;
}

void draw_content(Drawing& to, const Chart& chart, const CurveSet& set) {
  const std::vector<ChartCurve>& curves = set.curves;
  const AxisRanges ranges = ranges_of(curves, chart.y);
  const PlotFrame frame = put_frame(to, chart, ranges.x, ranges.y, 0.02);
  std::array<bool, marks> seen = {};
  std::vector<LegendEntry> entries;
  const auto draw = [&](const ChartCurve& curve, std::string_view color, std::string_view dash) {
    const CurvePaths paths(curve, frame, color != "faint");
    paths.draw(to, color, dash);
    paths.note_marks(seen);
  };
  const auto draw_named = [&](const ChartCurve& curve, std::size_t hue, std::string_view dash) {
    const std::string color = fmt::format("c{}{}", hue % hues, curve.pale ? " pale" : "");
    draw(curve, color, dash);
    if (curve.pale) {
      return;
    }
    const std::string not_finite = not_finite_text(curve);
    entries.push_back(
        {not_finite.empty() ? curve.name : fmt::format("{} ({})", curve.name, not_finite), line_sign(color, dash)});
  };
  const auto named =
      static_cast<std::size_t>(std::ranges::count_if(curves, [](const ChartCurve& curve) { return !curve.pale; }));
  if (named <= most_named_curves) {
    for (const ChartCurve& curve : curves) {
      draw_named(curve, curve.hue, dash_classes[static_cast<std::size_t>(curve.dash)]);
    }
  } else {
    const std::vector<std::size_t> notable = most_notable(curves);
    for (std::size_t i = 0; i < curves.size(); ++i) {
      if (!curves[i].pale && !contains(notable, i)) {
        draw(curves[i], "faint", "");
      }
    }
    for (std::size_t hue = 0; hue < notable.size(); ++hue) {
      draw_named(curves[notable[hue]], hue, "");
    }
    entries.push_back({fmt::format("{} more", named - notable.size()), line_sign("faint", "")});
  }
  if (curves.size() > 1) {
    put_legend(to, entries);
  }
  if (named > most_named_curves) {
    put_paragraph(to, "quiet", 13, "In colour: curves with NaN or infinities, then those that end highest and lowest.",
                  2);
  }
  put_mark_legend(to, seen, ranges_of(curves, {.scale = chart.y.scale}).y);
}

void draw_content(Drawing& to, const Chart& chart, const PercentileFan& fan) {
  const std::vector<ChartCurve>& curves = fan.curves;
  const AxisRanges ranges = ranges_of(curves, chart.y);
  const PlotFrame frame = put_frame(to, chart, ranges.x, ranges.y, 0.02);
  std::vector<LegendEntry> entries;
  std::string sign;
  std::array<bool, marks> seen = {};
  const std::size_t half = curves.size() / 2;
  for (std::size_t i = 0; i < half; ++i) {
    const ChartCurve& low = curves[i];
    const ChartCurve& high = curves[curves.size() - 1 - i];
    ChartCurve both = {.name = fmt::format("{} to {}", low.name, high.name), .gaps = low.gaps};
    for (std::size_t at = 0; at < low.points.size(); ++at) {  // NaN if either has no place
      both.points.push_back({low.points[at].x, frame.y.shows(high.points[at].y) ? low.points[at].y : std::nan("")});
    }
    std::string path;
    for (const JoinedPoints& part : joined_points(both, frame.y)) {
      append_line(path, 'M', frame, part.of(low));
      append_line(path, 'L', frame, part.of(high), true);
      path += 'Z';
    }
    to.out += fmt::format("<g><title>{}</title><path class=\"band f0\" d=\"{}\"/></g>\n", xml(both.name), path);
    sign += R"(<path class="band f0" d="M1 0h23v10h-23z"/>)";
    entries.push_back({both.name, sign});
  }
  // These curves mark the points where a band has no place.
  for (const std::size_t i : {std::size_t{0}, curves.size() - 1, half}) {
    const CurvePaths paths(curves[i], frame);
    paths.note_marks(seen);
    if (i == half && curves.size() % 2 == 1) {
      paths.draw(to, "c0", "");
      entries.push_back({curves[half].name, line_sign("c0", "")});
    } else if (i != half) {
      paths.draw(to, "faint", "");
    }
  }
  put_legend(to, entries);
  put_mark_legend(to, seen, ranges.y);
}

}  // namespace smd::tool
