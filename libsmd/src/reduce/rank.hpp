// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reduce/elements.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace smd::detail::reduce {

/// Kernels may write up to this many elements past the end.
inline constexpr std::size_t rank_padding = 64;

/// Two elements that enclose the one searched for, bounds included.
template <class T>
struct Bounds {
  T from;
  T to;
};

/// An element and the next one in order; both are the same if there is no next one.
template <class T>
struct Neighbours {
  T at;
  T next;
};

/// A random sample of many elements, which makes statements about the others cheap.
template <class T>
class Sample {
 public:
  /// Reads the sample immediately. With few elements there is no sample.
  explicit Sample(const RealElements<T>& elements);

  /// Returns two elements that almost surely enclose the one (with `magnitude`: of all |x|) below which this fraction
  /// of the elements lies, NaN excluded. Returns nullopt if too few are not NaN.
  [[nodiscard]] std::optional<Bounds<T>> bounds(bool magnitude, double fraction) const;
  /// Returns how many of `n` elements to expect between such bounds; the true number is hardly ever greater.
  [[nodiscard]] std::size_t expected(std::size_t n) const;

 private:
  std::vector<T> picked_;  // no NaN; empty if it would be too small
};

/// Searches for the elements (with `magnitude`: |x|) strictly between the bounds, or equal to both, and returns how
/// many are less than these. They are written to `out`, which has room for all elements and `rank_padding` more.
template <class T>
std::size_t between(const std::byte* source, std::size_t n, bool magnitude, Bounds<T> bounds, T* out,
                    std::size_t& found);

/// What `between` found among all elements.
template <class T>
struct Enclosed {
  Bounds<T> bounds;
  std::size_t below;
  T* values;  ///< May be reordered; not needed if the bounds are equal.
  std::size_t size;
};

/// Returns the element (with `magnitude`: |x|) of this rank and the next one, among `others` that are not NaN. Returns
/// nullopt if they were not found and are not equal to a bound.
template <class T>
std::optional<Neighbours<T>> neighbours(const RealElements<T>& elements, bool magnitude, const Enclosed<T>& found,
                                        std::size_t others, std::size_t rank);

/// Returns the element of this rank and the next one, among `n` elements none of which is NaN. Reorders them.
/// After Floyd and Rivest, "Expected time bounds for selection", CACM 18 (1975).
template <class T>
Neighbours<T> neighbours(T* values, std::size_t n, std::size_t rank);

}  // namespace smd::detail::reduce
