// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/export.hpp>
#include <smd/tensor_view.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smd {

/// Reductions that a job can save, in the order in which the reference lists them; each also with `abs_` in front.
inline constexpr std::array<std::string_view, 9> reduction_names = {"min", "max",  "mean", "std", "variance",
                                                                    "sum", "prod", "l1",   "l2"};

/// What can be computed of the elements of a value. With n elements x, all of them whatever the shape:
///
// clang-format off
/// | | |
/// |---|---|
/// | min, max | exact; of equal zeros -0.0 counts as the smaller |
/// | mean, sum | sum x / n, sum x: the exact sum, rounded once; of integers the exact 128-bit integer |
/// | variance, std | sum (x - mean)^2 / (n - ddof), and its root; by means and squared distances of blocks, joined by Chan's formula in twice double's precision |
/// | l1, l2, rms | sum \|x\|, root of sum x^2, root of sum x^2 / n: vector norms, not the reference's matrix norms |
/// | prod | in twice double's precision with an unbounded exponent, rounded once; of integers a double too |
/// | median, percentile | linear interpolation between neighbours, as `numpy.percentile`; need the elements themselves |
/// | count | elements, NaN included |
/// | finite nan inf posinf neginf zero negative | how many; -0.0 is zero, not negative |
/// | zero_fraction, nan_fraction | of count |
// clang-format on
enum class ReductionKind : std::uint8_t {
  min,
  max,
  median,
  mean,
  std,
  variance,
  sum,
  prod,
  l1,
  l2,
  count,
  finite,
  nan,
  inf,
  posinf,
  neginf,
  zero,
  negative,
  percentile,
  zero_fraction,
  nan_fraction,
  rms,
};

/// One reduction: a kind, of x or of |x|. |x| of the smallest integer is the true one; of a complex number its modulus.
struct Reduction {
  ReductionKind kind = ReductionKind::mean;
  bool abs = false;    ///< Of |x|. Only for min … l2 and percentile.
  double percent = 0;  ///< For percentile: 0 … 100.

  bool operator==(const Reduction&) const = default;
};

/// `abs_mean`, `median`, `p99.9`, `nan_fraction`, …; nothing if there is no such reduction.
[[nodiscard]] SMD_EXPORT std::optional<Reduction> parse_reduction(std::string_view name) noexcept;
/// The name that `parse_reduction` takes.
[[nodiscard]] SMD_EXPORT std::string to_string(const Reduction& reduction);
/// Whether the elements must be kept until the end: median and percentiles. All others take constant memory.
[[nodiscard]] SMD_EXPORT bool needs_values(const Reduction& reduction) noexcept;

enum class NanPolicy : std::uint8_t {
  propagate,  ///< A NaN among the elements makes everything NaN but the counts, as in NumPy.
  omit,       ///< NaN are left out, as in numpy.nanmean and the like; counts and fractions are of all elements.
};

struct ReduceOptions {
  NanPolicy nan = NanPolicy::propagate;
  std::uint64_t ddof = 0;  ///< What std and variance take off the divisor. Not below 0: then NaN, or infinity.
};

/// What a reduction gave.
struct ReducedValue {
  enum class Kind : std::uint8_t {
    undefined,  ///< NumPy refuses: min or max of no elements; order, product or percentile of complex numbers.
    real,
    integer,  ///< Exact: counts; min, max, sum, l1 of integers and booleans.
    complex,  ///< mean and sum of complex numbers.
  };

  Kind kind = Kind::undefined;
  double real = 0;        ///< The value; of an integer, rounded; NaN if undefined.
  double imaginary = 0;   ///< 0 but for complex ones.
  std::int64_t high = 0;  ///< An integer is high * 2^64 + low.
  std::uint64_t low = 0;

  bool operator==(const ReducedValue&) const = default;
};

/// Decimal digits of an integer, the shortest text that reads back as the same double of a real one (`nan`, `inf`,
/// `-inf`), `(re,im)` of a complex one, nothing if undefined.
[[nodiscard]] SMD_EXPORT std::string to_string(const ReducedValue& value);

/// All that is known of a set of elements without the elements, as plain numbers to be sent or stored: what one shard
/// hands to another. Pairs of doubles are unevaluated sums, about 106 bits.
struct PartialReduction {
  std::uint64_t count = 0;  ///< Elements, NaN and infinities included.
  std::uint64_t nan = 0;
  std::uint64_t posinf = 0;
  std::uint64_t neginf = 0;
  std::uint64_t zero = 0;
  std::uint64_t negative = 0;  ///< Below 0, -inf included.
  bool integers = true;        ///< Only integers and booleans so far; then min, max and sums are integers.
  // All of the following are of the finite elements. Without any: min is +infinity, max -infinity.
  double min = 0, max = 0, abs_min = 0;
  /// If `integers`: the 128-bit integers behind min, max and abs_min.
  std::int64_t min_integer_high = 0, max_integer_high = 0, abs_min_integer_high = 0;
  std::uint64_t min_integer_low = 0, max_integer_low = 0, abs_min_integer_low = 0;
  std::array<double, 2> sum = {}, abs_sum = {};                 ///< Sums of x and of |x|; what is not of integer type.
  std::int64_t sum_integer_high = 0, abs_sum_integer_high = 0;  ///< Sums of what is of integer type.
  std::uint64_t sum_integer_low = 0, abs_sum_integer_low = 0;
  std::array<double, 2> m2 = {}, abs_m2 = {};  ///< Sums of squared distances from the mean, of x and of |x|.
  std::array<double, 2> prod = {1, 0};         ///< Product of the finite elements, times 2^prod_exponent.
  std::int64_t prod_exponent = 0;

  bool operator==(const PartialReduction&) const = default;
};

/// Reduces any number of views, as if their elements were one array, in one pass and constant memory (under 4 KiB, and
/// 56 KiB of stack while adding), but for median and percentiles, which keep the elements (4 bytes each for types of up
/// to 16 bits and float32, else 8).
///
/// How the elements are split into views, calls and merged reducers shows in no result: counts, min, max, sum, mean,
/// l1 of real numbers are the same to the bit; variance, std, prod, l2, rms and the abs_ forms of mean, std and
/// variance to 2 units in the last place. Squares must be in double's range for that: if all |x| are below 1e-120 they
/// lose digits, from 1e154 on they are infinite, as NumPy's. Types may be mixed: the result is an integer only if all
/// elements were.
///
/// Not safe for concurrent use of one object: give each thread its own and merge them.
class SMD_EXPORT Reducer {
 public:
  /// Computes what `wanted` needs and no more. @throws InvalidArgument for a percent outside 0 … 100, or `abs` of a
  /// kind that has none.
  explicit Reducer(std::span<const Reduction> wanted, const ReduceOptions& options = {});
  Reducer(const Reducer& other);
  Reducer(Reducer&&) noexcept;
  Reducer& operator=(const Reducer& other);
  Reducer& operator=(Reducer&&) noexcept;
  ~Reducer();

  /// Takes in the elements of a view. @throws InvalidArgument for strings.
  void add(const TensorView& view);
  /// The same of bare bytes: whole elements in the layout that `TensorView` describes; bytes after the last whole
  /// element are not looked at.
  void add(Dtype dtype, std::span<const std::byte> bytes);
  /// Takes in `count` elements that are all equal to `element`, in a time that grows with the logarithm of `count`;
  /// for median and percentiles, which keep each element, in linear time. @throws InvalidArgument for strings.
  void add_repeated(Dtype dtype, std::span<const std::byte> element, std::uint64_t count);

  /// Takes in all that another one took. Like `add`, it changes nothing if memory runs out. @throws InvalidArgument if
  /// that was made for other reductions or options.
  void merge(const Reducer& other);
  /// The same; elements kept for percentiles are moved instead of copied, and the other one, if it is not this, is left
  /// as made anew.
  void merge(Reducer&& other);

  /// The result so far. @throws InvalidArgument if the constructor was not told of it.
  [[nodiscard]] ReducedValue result(const Reduction& reduction) const;

  /// The results of all that the constructor was told of, in that order. @throws InvalidArgument unless `into` has
  /// as many places.
  void results(std::span<ReducedValue> into) const;

  /// Forgets all elements: as if made anew, but cheaper.
  void clear() noexcept;

  /// What can be pooled exactly. Of fields that no wanted reduction needs nothing is promised. Not of complex numbers:
  /// @throws InvalidArgument if some were added.
  [[nodiscard]] PartialReduction partial() const;
  /// Takes in what another reducer's `partial` gave. @throws InvalidArgument if the values themselves are needed.
  void merge(const PartialReduction& partial);

  /// For the library's own use.
  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

/// Reductions of one view, in the order asked. Median and percentiles read it in place, and keep the elements near
/// them.
/// @throws InvalidArgument as `Reducer`.
[[nodiscard]] SMD_EXPORT std::vector<ReducedValue> reduce(const TensorView& view, std::span<const Reduction> wanted,
                                                          const ReduceOptions& options = {});

/// Counts in bins of equal width, as `numpy.histogram` of the elements as float64: a bin holds its left edge, the last
/// one its right edge too. Elements outside the range, and NaN, fall in no bin and are counted apart.
class SMD_EXPORT Histogram {
 public:
  /// `bins` bins between two finite bounds; equal bounds are widened by one half each way, as NumPy does.
  /// @throws InvalidArgument if `bins` is 0 or above 2^24, a bound is not finite, or low exceeds high.
  Histogram(std::uint64_t bins, double low, double high);

  /// Takes in the elements of a view. @throws InvalidArgument for strings and complex numbers.
  void add(const TensorView& view);
  /// @throws InvalidArgument unless bins and bounds are the same.
  void merge(const Histogram& other);

  [[nodiscard]] const std::vector<double>& edges() const noexcept { return edges_; }  ///< One more than bins.
  [[nodiscard]] const std::vector<std::uint64_t>& counts() const noexcept { return counts_; }
  [[nodiscard]] std::uint64_t below() const noexcept { return below_; }
  [[nodiscard]] std::uint64_t above() const noexcept { return above_; }
  [[nodiscard]] std::uint64_t nan() const noexcept { return nan_; }

 private:
  std::vector<double> edges_;
  std::vector<std::uint64_t> counts_;
  double unit_ = 1;
  double per_unit_ = 0;
  std::uint64_t below_ = 0;
  std::uint64_t above_ = 0;
  std::uint64_t nan_ = 0;
};

/// Figures over all elements of a value, computed in double precision. As NumPy: a NaN makes `min`, `max`, `mean` and
/// `std` NaN; without elements these four are NaN.
struct Statistics {
  std::uint64_t size = 0;
  double min = 0;
  double max = 0;
  double mean = 0;
  double std = 0;          ///< Population standard deviation: the mean squared distance is divided by the size.
  std::uint64_t nan = 0;   ///< Elements that are NaN.
  std::uint64_t inf = 0;   ///< Elements that are positive or negative infinity.
  std::uint64_t zero = 0;  ///< Elements equal to 0, -0.0 included.
};

/// Statistics of a view of real numbers (`is_real`). Precondition: the view's type is real.
/// Mean and deviation by Chan, Golub, LeVeque: "Updating Formulae and a Pairwise Algorithm for Computing Sample
/// Variances", 1979. min and max of int64 and uint64 beyond 2^53 are rounded to double.
[[nodiscard]] SMD_EXPORT Statistics statistics(const TensorView& view);

}  // namespace smd
