// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/export.hpp>
#include <smd/tensor_view.hpp>

#include <cstdint>
#include <memory>
#include <optional>

namespace smd {

class Extent;

/// When two elements count as equal: |a - b| <= atol + rtol |b|, in double precision, as in `numpy.isclose`.
struct DifferenceOptions {
  double rtol = 0;        ///< Finite and not negative.
  double atol = 0;        ///< Finite and not negative.
  bool equal_nan = true;  ///< NaN equals NaN.
  /// Whether runs of equal bytes always count in the sums. False: not until a run differs (see `Comparer::complete`).
  bool sums_of_equal = true;
};

/// Statistics of pairs of elements, a of the first value and b of the second.
///
/// Differences are taken over the pairs of finite numbers, in double precision; whole numbers of 64 bits are subtracted
/// without rounding, from floating-point numbers too. Sums are of more than double precision and range. A statistic
/// that is not defined is nullopt: all of them if there is no pair but of text, means without a finite pair, `cosine`
/// if `l2_a` or `l2_b` is 0 or exceeds double's range.
struct Difference {
  std::uint64_t size = 0;       ///< Pairs.
  std::uint64_t differing = 0;  ///< Pairs that differ. A pair with a number that is not finite differs unless both are
                                ///< the same infinity or, with `equal_nan`, NaN.
  std::optional<std::uint64_t> first;  ///< Index of the first pair that differs, in C order.
  bool same_dtype = true;
  std::optional<double> max_abs;   ///< Largest |a - b|; infinite if a pair that is not finite differs.
  std::optional<double> max_rel;   ///< Largest |a - b| / |b|; 0 / 0 counts as 0.
  std::optional<double> mean_abs;  ///< Mean of |a - b|.
  std::optional<double> rmse;      ///< Root of the mean of (a - b)^2.
  std::optional<double> l2_a;      ///< Root of the sum of a^2.
  std::optional<double> l2_b;
  std::optional<double> l2_diff;  ///< Root of the sum of (a - b)^2.
  std::optional<double> rel_l2;   ///< l2_diff / l2_a; 0 / 0 counts as 0.
  std::optional<double> cosine;   ///< Sum of a b / (l2_a l2_b); of complex numbers, the real part of a conj(b).
};

/// Compares two values that come in runs of elements. Runs of one type are first compared as bytes.
///
/// Of complex numbers |a - b| is the modulus; a complex number is finite if both parts are. Booleans count as 0 and 1,
/// quantised numbers as the integers that are stored. Text has no numbers: only `size`, `differing` and `first`.
///
/// The result does not depend on how the elements are divided into runs, except for the last bits of sums. The same
/// runs give the same result however they are divided among merged objects. Not for concurrent use. `add` throws
/// InvalidArgument if one value has more elements than the other.
class SMD_EXPORT Comparer {
 public:
  /// @throws InvalidArgument for a tolerance that is not finite or is negative.
  explicit Comparer(const DifferenceOptions& options = {});
  Comparer(Comparer&&) noexcept;
  Comparer& operator=(Comparer&&) noexcept;
  ~Comparer();

  /// Adds the next elements of both values, whose shapes may differ.
  void add(const TensorView& a, const TensorView& b);
  /// Adds elements of two open values of one shape, block after block, as far as both can be read: all of them, or of
  /// numbers at most `count` from `first` on.
  void add(Extent& a, Extent& b, std::uint64_t first = 0, std::uint64_t count = UINT64_MAX);
  /// Adds what another object, with the same options, found in the elements that follow.
  void merge(const Comparer& following);
  /// Forgets all elements.
  void clear();

  /// Returns whether any pair has differed so far.
  [[nodiscard]] bool differs() const noexcept;
  /// Returns whether all runs so far had equal bytes (and, without `equal_nan`, no floating-point elements).
  [[nodiscard]] bool equal_bytes() const noexcept;
  /// Returns false if equal runs were left out of the sums; `l2_a`, `l2_b`, `rel_l2`, `cosine`, means are then nullopt.
  [[nodiscard]] bool complete() const noexcept;
  [[nodiscard]] Difference result() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace smd
