// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace smd::tool {

/// A chart as plain data: what `svg.hpp` draws, and says in words. All text may be any bytes.

/// A place on a curve; y may be NaN or infinite.
struct ChartPoint {
  double x = 0;
  double y = 0;
};

/// How many points a curve has, and how many of them are not finite.
struct PointCounts {
  std::size_t points = 0;
  std::size_t nan = 0;
  std::size_t plus = 0;   ///< inf
  std::size_t minus = 0;  ///< -inf

  void add(double number) noexcept {
    ++points;
    if (!std::isfinite(number)) {
      ++(std::isnan(number) ? nan : number > 0 ? plus : minus);
    }
  }
};

/// What is known of all points of a curve.
struct CurveFacts {
  PointCounts counts;
  ChartPoint first;
  ChartPoint last;
  double widest = 0;                ///< The greatest distance between two points in a row, along x.
  std::optional<ChartPoint> least;  ///< The first of the smallest finite numbers.
  std::optional<ChartPoint> greatest;

  void add(const ChartPoint& point) noexcept {
    first = counts.points == 0 ? point : first;
    widest = counts.points == 0 ? 0 : std::max(widest, point.x - last.x);
    last = point;
    counts.add(point.y);
    if (std::isfinite(point.y)) {
      least = !least || point.y < least->y ? point : least;
      greatest = !greatest || point.y > greatest->y ? point : greatest;
    }
  }
};

enum class Dash : std::uint8_t { solid, dashed, dotted, dash_dotted };

/// A curve over ascending, finite x.
struct ChartCurve {
  std::string name;
  std::vector<ChartPoint> points = {};
  std::vector<std::size_t> gaps = {};  ///< Points, ascending, not joined to the one before: data is missing.
  std::size_t hue = 0;                 ///< A place in the palette, which repeats.
  Dash dash = Dash::solid;
  bool pale = false;  ///< Behind another of this hue and dash, such as its smooth form, and not in the legend.
  /// If the points represent more, with the same first, last, least and greatest: the counts of those.
  std::optional<PointCounts> counts = {};
};

/// The most curves of a chart that have a colour and dashes of their own. If there are more, only some are coloured,
/// and pale ones are not drawn.
inline constexpr std::size_t most_named_curves = 28;

/// Curves that share both axes.
struct CurveSet {
  std::vector<ChartCurve> curves;
};

/// Percentiles over steps, from the least to the greatest: areas between the first and the last, the second and the
/// last but one, and so on; a curve if one is left in the middle. All have points at the same x.
struct PercentileFan : CurveSet {};

/// Counts between ascending edges at one x.
struct HeatColumn {
  double x = 0;
  std::vector<double> edges;  ///< One more than counts.
  std::vector<double> counts;
};

/// Counts over steps: the share that each bin has of the elements of its step, as a colour.
struct HeatMap {
  std::vector<HeatColumn> columns;  ///< By ascending x.
};

/// Counts between ascending edges, as bars.
struct BarSet {
  std::vector<double> edges;  ///< One more than counts.
  std::vector<double> counts;
};

/// One plane of numbers, row by row.
struct ImageTile {
  std::string caption;
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<double> numbers = {};  ///< NaN where there is none.
};

/// Images side by side, such as the filters of a layer: all with the same colours from the least to the greatest
/// finite number.
struct ImageGrid {
  std::vector<ImageTile> tiles;
};

enum class ScaleKind : std::uint8_t { linear, logarithmic };

struct ChartAxis {
  std::string name = {};  ///< With its unit.
  ScaleKind scale = ScaleKind::linear;
  bool whole = false;                ///< Only whole numbers: steps and counts.
  std::optional<double> least = {};  ///< Always shown: limits of the possible, such as 0 and 1 of a share.
  std::optional<double> greatest = {};
  /// Of curves over a linear axis: single spikes are not within its range; marks show where a curve leaves it.
  bool robust = false;
};

/// What a rule found at a step: marked over the height of the chart, or above it if it is about some curves.
struct ChartFinding {
  double x = 0;
  std::string text;
  std::string link;  ///< Where details are, in the page that holds the chart: `#finding-3`. Empty: no link.
  std::optional<std::size_t> hue = {};  ///< That of the curves which it is about; nullopt: of all.
};

struct Chart {
  std::string title = {};
  std::string subtitle = {};  ///< What all that is drawn has in common.
  ChartAxis x = {};
  ChartAxis y = {};
  std::variant<CurveSet, PercentileFan, HeatMap, BarSet, ImageGrid> content = {};
  std::vector<ChartFinding> findings = {};
};

/// The least and the greatest of some numbers; empty: {inf, -inf}.
struct AxisRange {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void add(double number) noexcept {
    low = number < low ? number : low;
    high = number > high ? number : high;
  }
  void add(const AxisRange& other) noexcept {
    low = std::min(low, other.low);
    high = std::max(high, other.high);
  }
  void add_finite(std::span<const double> numbers) noexcept {
    for (const double number : numbers) {
      if (std::isfinite(number)) {
        add(number);
      }
    }
  }
  /// The outermost edges of bins that are not empty. `edges`: one more than `counts`.
  [[nodiscard]] static AxisRange of_filled(std::span<const double> edges, std::span<const double> counts) noexcept {
    AxisRange range;
    for (std::size_t bin = 0; bin < counts.size(); ++bin) {
      if (counts[bin] > 0) {
        range.add(AxisRange{edges[bin], edges[bin + 1]});
      }
    }
    return range;
  }
  [[nodiscard]] bool empty() const noexcept { return !(low <= high); }
  /// Where a number lies between them: 0 is the least. Halves, so that the distance of any two numbers is finite.
  [[nodiscard]] double part_of(double number) const noexcept { return (number / 2 - low / 2) / (high / 2 - low / 2); }
};

}  // namespace smd::tool
