// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reduce/elements.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace smd::detail::reduce {

/// Kernels may write so many elements past the end.
inline constexpr std::size_t rank_padding = 64;

/// Two elements between which one that is looked for lies, themselves included.
template <class T>
struct Bounds {
  T from;
  T to;
};

/// An element and the one after it in order, which is the same if there is none.
template <class T>
struct Neighbours {
  T at;
  T next;
};

/// Some of many elements, picked at random: what they say of the rest costs little to find out.
template <class T>
class Sample {
 public:
  /// Reads them at once. With few elements there is no sample.
  explicit Sample(const Elements<T>& elements);

  /// Two elements that almost surely enclose the one (of `magnitude`: of all |x|) below which this fraction lies of
  /// those that are not NaN. None if too few are not.
  [[nodiscard]] std::optional<Bounds<T>> bounds(bool magnitude, double fraction) const;
  /// How many of `n` elements lie between such bounds, hardly ever more.
  [[nodiscard]] std::size_t expected(std::size_t n) const;

 private:
  std::vector<T> picked_;  // no NaN; empty if there would be too few
};

/// Looks for the elements (of `magnitude`: for |x|) strictly between the bounds, or equal to both, and gives how many
/// come before these. They go to `out`, which has room for all elements and `rank_padding` more.
template <class T>
std::size_t between(const std::byte* source, std::size_t n, bool magnitude, Bounds<T> bounds, T* out,
                    std::size_t& found);

/// What `between` found of all elements.
template <class T>
struct Found {
  Bounds<T> bounds;
  std::size_t below;
  T* values;  ///< They may be put in another order; of equal bounds none are needed.
  std::size_t size;
};

/// The element (of `magnitude`: |x|) of this rank and the next one, of `others` that are not NaN. None if they are
/// neither among those found nor equal to a bound.
template <class T>
std::optional<Neighbours<T>> neighbours(const Elements<T>& elements, bool magnitude, const Found<T>& found,
                                        std::size_t others, std::size_t rank);

/// The element of this rank and the next one, of `n` elements none of which is NaN. They are put in another order.
/// After Floyd and Rivest, "Expected time bounds for selection", CACM 18 (1975).
template <class T>
Neighbours<T> neighbours(T* values, std::size_t n, std::size_t rank);

}  // namespace smd::detail::reduce
