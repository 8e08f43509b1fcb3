// SPDX-License-Identifier: Apache-2.0
#include "histogram.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace smd::tool::tensor {

namespace {

struct Bounds {
  double low;
  double high;
};

Bounds bounds_of(const Elements& elements, const BinSpec& bins) {
  Bounds bounds = {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  if (bins.low) {
    bounds = {*bins.low, *bins.high};
  } else {
    for (std::uint64_t i = 0; i < elements.view().size(); ++i) {
      const double number = elements.number(i);
      if (std::isfinite(number)) {
        bounds.low = std::min(bounds.low, number);
        bounds.high = std::max(bounds.high, number);
      }
    }
    if (bounds.low > bounds.high) {
      return {0, 1};
    }
  }
  if (bounds.low == bounds.high) {
    bounds.low -= 0.5;
    bounds.high += 0.5;
  }
  return bounds;
}

// numpy.linspace: steps from the lower bound, the upper one exact.
std::vector<double> edges_between(const Bounds& bounds, std::uint64_t count) {
  std::vector<double> edges(count + 1);
  const auto parts = static_cast<double>(count);
  const double width = bounds.high - bounds.low;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto part = static_cast<double>(i);
    // Bounds so far apart that their distance is no double.
    edges[i] = std::isfinite(width) ? bounds.low + part * (width / parts)
                                    : bounds.low * (1 - part / parts) + bounds.high * (part / parts);
  }
  edges[count] = bounds.high;
  return edges;
}

}  // namespace

Histogram histogram(const Elements& elements, const BinSpec& bins) {
  const Bounds bounds = bounds_of(elements, bins);
  Histogram result;
  result.edges = edges_between(bounds, bins.count);
  result.counts.assign(bins.count, 0);
  // Halves, so that the distance is finite.
  const double scale = static_cast<double>(bins.count) / (bounds.high / 2 - bounds.low / 2);
  const std::uint64_t last = bins.count - 1;
  for (std::uint64_t i = 0; i < elements.view().size(); ++i) {
    const double number = elements.number(i);
    if (!std::isfinite(number)) {
      ++(std::isnan(number) ? result.nan : result.inf);
      continue;
    }
    if (number < bounds.low || number > bounds.high) {
      ++result.outside;
      continue;
    }
    const double guess = (number / 2 - bounds.low / 2) * scale;
    std::uint64_t bin = guess < static_cast<double>(last) ? static_cast<std::uint64_t>(guess) : last;
    // The guess is rounded; the edges decide.
    while (bin > 0 && number < result.edges[bin]) {
      --bin;
    }
    while (bin < last && number >= result.edges[bin + 1]) {
      ++bin;
    }
    ++result.counts[bin];
  }
  return result;
}

}  // namespace smd::tool::tensor
