// SPDX-License-Identifier: Apache-2.0
#include "built_in/scans.hpp"

#include <smd/elements.hpp>
#include <smd/reduction.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

namespace smd::detail::rules {

namespace {

constexpr std::size_t block = 2048;  // pairs of doubles that stay in the first-level cache

struct Nodes {
  std::uint64_t nodes = 1;
  std::uint64_t samples = 1;
};

Nodes nodes_of(const TensorView& view) noexcept {
  Nodes shape;
  if (!view.shape().empty()) {
    shape.samples = static_cast<std::uint64_t>(view.shape().front());
    for (const std::int64_t dim : view.shape().subspan(1)) {
      shape.nodes *= static_cast<std::uint64_t>(dim);
    }
  }
  return shape;
}

/// Returns the largest T that is not above a double: an element of type T is above the one if and only if it is above
/// the other, so that no element need be converted.
template <class T>
T rounded_down(double x) {
  const auto near = static_cast<T>(x);
  return static_cast<double>(near) > x ? std::nextafter(near, -std::numeric_limits<T>::infinity()) : near;
}

/// Adds to each node's count the samples that are active. The inner loop runs along memory.
template <class Elements, class Active>
void count_active(const Elements& x, const Nodes& shape, std::vector<std::uint32_t>& counts, Active active) {
  std::uint32_t* const out = counts.data();
  if (shape.nodes == 1) {
    std::uint32_t count = 0;
    for (std::uint64_t i = 0; i < shape.samples; ++i) {
      count += active(x[i]) ? 1 : 0;
    }
    out[0] = count;
    return;
  }
  for (std::uint64_t first = 0; first < shape.samples * shape.nodes; first += shape.nodes) {
    for (std::uint64_t node = 0; node < shape.nodes; ++node) {
      out[node] += active(x[first + node]) ? 1 : 0;
    }
  }
}

template <class Elements>
void count_active(const Elements& x, const Nodes& shape, std::vector<std::uint32_t>& counts, double low,
                  std::optional<double> high) {
  using T = decltype(x[0]);
  using Number = std::conditional_t<std::is_same_v<T, float>, float, double>;
  const auto least = rounded_down<Number>(low);
  const auto most = -rounded_down<Number>(-high.value_or(0));
  if (high) {
    // & instead of &&, to avoid a branch.
    count_active(x, shape, counts, [least, most](T value) {
      const auto number = static_cast<Number>(value);
      return (number > least) & (number < most);
    });
  } else {
    count_active(x, shape, counts, [least](T value) { return static_cast<Number>(value) > least; });
  }
}

/// Calls use(a, b, n) with blocks of both values, copied as doubles, which it may change. Stops if it returns false.
template <class Use>
void for_pairs(const TensorView& a, const TensorView& b, const Use& use) {
  std::array<double, block> left;   // NOLINT(cppcoreguidelines-pro-type-member-init): filled before it is read
  std::array<double, block> right;  // NOLINT(cppcoreguidelines-pro-type-member-init): likewise
  std::size_t size = 0;
  for (std::uint64_t start = 0; (size = copy_as_doubles(a, start, left)) > 0; start += size) {
    copy_as_doubles(b, start, right);
    if (!use(left.data(), right.data(), size)) {
      return;
    }
  }
}

}  // namespace

double inactive_percent(const TensorView& view, double low, std::optional<double> high, double percent_of_samples) {
  const Nodes shape = nodes_of(view);
  std::vector<std::uint32_t> counts(shape.nodes);
  visit_numbers(view, [&](const auto& x) { count_active(x, shape, counts, low, high); });
  const auto samples = static_cast<double>(shape.samples);
  const auto inactive = std::ranges::count_if(
      counts, [&](std::uint32_t active) { return 100 * static_cast<double>(active) / samples < percent_of_samples; });
  return 100 * static_cast<double>(inactive) / static_cast<double>(shape.nodes);
}

Distance compare(const TensorView& a, const TensorView& b, const Closeness& tolerance) {
  Distance found;
  if (a.dtype() == b.dtype() && a.bytes().size() == b.bytes().size() &&
      std::memcmp(a.bytes().data(), b.bytes().data(), a.bytes().size()) == 0) {
    return found;
  }
  constexpr Reduction max{.kind = ReductionKind::max};
  Reducer largest(std::span(&max, 1));
  for_pairs(a, b, [&](double* x, const double* y, std::size_t n) {
    constexpr double most = std::numeric_limits<double>::max();
    std::uint64_t far = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double distance = std::abs(x[i] - y[i]);
      // `distance` is not finite if an element is not, or if their distance exceeds double's range.
      const double size_x = std::abs(x[i]);
      const double size_y = std::abs(y[i]);
      const bool both_finite = (size_x <= most) & (size_y <= most);
      const bool near = both_finite & (distance <= tolerance.atol + tolerance.rtol * size_y);
      const bool same_nan = (x[i] != x[i]) & (y[i] != y[i]);
      far += ((x[i] == y[i]) | near | same_nan) ? 0 : 1;
      x[i] = distance <= most ? distance : 0;
    }
    found.far += far;
    largest.add(Dtype::float64, std::as_bytes(std::span(x, n)));
    return !tolerance.any || found.far == 0;
  });
  found.largest = std::max(0.0, largest.result(max).real);  // the result is NaN without elements
  return found;
}

bool is_finite(const TensorView& view) {
  constexpr Reduction largest{.kind = ReductionKind::max, .abs = true};  // cannot overflow
  return std::isfinite(reduce(view, std::span(&largest, 1)).front().real);
}

UpdateNorms update_norms(const TensorView& a, const TensorView& b) {
  constexpr Reduction norm{.kind = ReductionKind::l2};
  Reducer update(std::span(&norm, 1));
  for_pairs(a, b, [&](double* x, const double* y, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      x[i] -= y[i];
    }
    update.add(Dtype::float64, std::as_bytes(std::span(x, n)));
    return true;
  });
  return {update.result(norm).real, reduce(b, std::span(&norm, 1)).front().real};
}

}  // namespace smd::detail::rules
