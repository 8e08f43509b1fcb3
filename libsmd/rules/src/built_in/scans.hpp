// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/tensor_view.hpp>

#include <cstdint>
#include <optional>

/// Computations over whole values that are not reductions: for each node, and over pairs of values. Precondition of
/// all: views of real numbers. Numbers are compared as doubles.
namespace smd::detail::rules {

/// Axis 0 is the samples; every position of the other axes is a node. A value with one axis has one node; a scalar has
/// one node and one sample. Returns the percentage of nodes that are active in less than `percent_of_samples` percent
/// of the samples. Active: above `low` and, if `high` is given, below it. NaN is not active.
[[nodiscard]] double inactive_percent(const TensorView& view, double low, std::optional<double> high,
                                      double percent_of_samples);

/// How two values of one shape differ, element by element.
struct Distance {
  std::uint64_t far = 0;  ///< Pairs that are not close.
  double largest = 0;     ///< The largest finite |a - b|.
};
struct Closeness {
  double rtol = 0;
  double atol = 0;
  bool any = false;  ///< Only whether any pair is far is asked, so not all are counted.
};
/// Compares as numpy.isclose does with `equal_nan`. Close are elements with |a - b| <= atol + rtol |b|, equal
/// infinities, and two NaN. `Comparer` is not used: it subtracts integers of 64 bits without rounding them to doubles,
/// and leaves pairs that are not finite out of its sums.
[[nodiscard]] Distance compare(const TensorView& a, const TensorView& b, const Closeness& tolerance);

/// Returns whether no element is NaN or infinite.
[[nodiscard]] bool is_finite(const TensorView& view);

/// Euclidean norms over all elements.
struct UpdateNorms {
  double update = 0;     ///< Of a - b.
  double reference = 0;  ///< Of b.
};
[[nodiscard]] UpdateNorms update_norms(const TensorView& a, const TensorView& b);

}  // namespace smd::detail::rules
