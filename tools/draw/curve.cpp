// SPDX-License-Identifier: Apache-2.0
#include "draw/curve.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

namespace smd::tool {

namespace {

constexpr std::array<std::string_view, 8> blocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<std::string_view, 8> letters = {"_", ".", "-", ":", "=", "+", "*", "#"};

// One number per column: the mean of those that fall in it; not finite if one of them is not.
std::vector<double> resampled(std::span<const double> numbers, std::size_t columns) {
  std::vector<double> result;
  for (std::size_t column = 0; !numbers.empty() && column < columns; ++column) {
    const std::size_t begin = column * numbers.size() / columns;
    const std::size_t end = std::max((column + 1) * numbers.size() / columns, begin + 1);
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) {
      sum += numbers[i] / static_cast<double>(end - begin);
    }
    result.push_back(sum);
  }
  return result;
}

}  // namespace

std::string curve_text(std::span<const double> numbers, std::size_t columns, bool ascii) {
  const std::array<std::string_view, 8>& steps = ascii ? letters : blocks;
  const std::vector<double> heights = resampled(numbers, columns);
  AxisRange range;
  range.add_finite(heights);
  std::string text;
  for (const double height : heights) {
    if (!std::isfinite(height)) {
      text += ascii ? "!" : "×";
    } else if (range.low == range.high) {
      text += steps[3];
    } else {
      text += steps[std::min<std::size_t>(7, static_cast<std::size_t>(range.part_of(height) * 8))];
    }
  }
  return text;
}

bool GapFinder::is_gap(double distance, double before, double after) noexcept {
  if (before == 0 || after == 0) {  // at an end, where only one distance says what is usual
    const double other = std::max(before, after);
    return other > 0 && distance > 4 * other;
  }
  return distance > 1.5 * std::max(before, after);
}

std::size_t GapFinder::add(std::int64_t step) {
  // Unsigned, since steps may lie farther apart than a signed integer holds.
  const double distance =
      count_ == 0 ? 0 : static_cast<double>(static_cast<std::uint64_t>(step) - static_cast<std::uint64_t>(last_));
  if (count_ >= 2 && (gaps_.empty() || gaps_.back() != count_ - 1) && is_gap(distance_, before_, distance)) {
    gaps_.push_back(count_ - 1);
  }
  if (skipped_) {
    gaps_.push_back(count_);
    skipped_ = false;
  }
  before_ = distance_;
  distance_ = distance;
  last_ = step;
  return count_++;
}

std::vector<std::size_t> GapFinder::gaps() const {
  std::vector<std::size_t> all = gaps_;
  if (count_ >= 2 && (all.empty() || all.back() != count_ - 1) && is_gap(distance_, before_, 0)) {
    all.push_back(count_ - 1);
  }
  return all;
}

std::vector<std::size_t> GapFinder::gaps_among(std::span<const std::size_t> places) const {
  const std::vector<std::size_t> all = gaps();
  std::vector<std::size_t> among;
  auto gap = all.begin();
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto before = std::exchange(gap, std::upper_bound(gap, all.end(), places[i]));
    if (gap != before && i != 0) {
      among.push_back(i);
    }
  }
  return among;
}

std::vector<JoinedPoints> joined_points(const ChartCurve& curve, const Scale& y) {
  std::vector<JoinedPoints> parts;
  bool joined = false;
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    const bool shown = y.shows(curve.points[i].y);
    if (shown && (!joined || std::ranges::binary_search(curve.gaps, i))) {
      parts.push_back({i, i});
    }
    if (shown) {
      parts.back().end = i + 1;
    }
    joined = shown;
  }
  return parts;
}

std::vector<std::size_t> thinned(std::span<const ChartPoint> points, const Scale& x) {
  std::vector<std::size_t> kept;
  for (std::size_t begin = 0; begin < points.size();) {
    const double column = std::floor(x.place(points[begin].x));
    std::size_t least = begin;
    std::size_t greatest = begin;
    std::size_t end = begin;
    for (; end < points.size() && std::floor(x.place(points[end].x)) == column; ++end) {
      least = points[end].y < points[least].y ? end : least;
      greatest = points[end].y > points[greatest].y ? end : greatest;
    }
    std::array<std::size_t, 4> of_column = {begin, least, greatest, end - 1};
    std::ranges::sort(of_column);
    kept.insert(kept.end(), of_column.begin(), std::unique(of_column.begin(), of_column.end()));
    begin = end;
  }
  return kept;
}

}  // namespace smd::tool
