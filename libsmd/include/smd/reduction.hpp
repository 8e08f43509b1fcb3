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

class Extent;  // see value_reader.hpp

/// What can be computed from the elements of a value. With n elements x, regardless of shape:
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

/// Which hooks can save a reduction instead of, or beside, a value.
enum class SavedBy : std::uint8_t {
  none,
  this_library,  ///< The reference refuses a trial whose configuration has it.
  every_hook,    ///< The reference's too.
};

/// What is known of a kind of reduction.
struct ReductionFacts {
  ReductionKind kind;
  std::string_view name;  ///< As `parse_reduction` takes it; of a percentile, what precedes the number.
  bool abs;               ///< Also of |x|, with the prefix `abs_`.
  SavedBy saved_by;
  /// The kind that makes of the results for several arrays that for all of their elements; nullopt if none does.
  std::optional<ReductionKind> pooling;
  bool share;             ///< From 0 to 1.
  std::string_view text;  ///< What it is, for people: the name of an axis.
};

/// Returns what is known of every kind, in the order of help and axes.
[[nodiscard]] SMD_EXPORT std::span<const ReductionFacts> all_reductions() noexcept;
/// Returns what is known of a kind.
[[nodiscard]] SMD_EXPORT const ReductionFacts& facts_of(ReductionKind kind) noexcept;

/// One reduction: a kind, of x or of |x|. |x| of the smallest integer is its true magnitude; |x| of a complex number
/// is its modulus.
struct Reduction {
  ReductionKind kind = ReductionKind::mean;
  bool abs = false;    ///< Of |x|. Only of kinds whose `ReductionFacts::abs` is set.
  double percent = 0;  ///< For percentile: 0 … 100.
  /// Of min, max, median, percentile: NaN are left out whatever `ReduceOptions::omit_nan` says.
  bool omit_nan = false;

  bool operator==(const Reduction&) const = default;
};

/// Parses `abs_mean`, `median`, `p99.9`, `nan_fraction`, …; returns nullopt if there is no such reduction.
[[nodiscard]] SMD_EXPORT std::optional<Reduction> parse_reduction(std::string_view name) noexcept;
/// Returns the name that `parse_reduction` takes.
[[nodiscard]] SMD_EXPORT std::string to_string(const Reduction& reduction);
/// Returns whether the elements must be kept until the end: median and percentiles. All others take constant memory.
[[nodiscard]] SMD_EXPORT bool needs_values(const Reduction& reduction) noexcept;

struct ReduceOptions {
  /// Leave NaN out, as numpy.nanmean; counts and fractions are of all elements. False: a NaN among the elements makes
  /// every result except counts NaN, as in NumPy.
  bool omit_nan = false;
  /// Subtracted from the divisor of std and variance. The divisor is at least 0; if it is 0, they are NaN or infinity.
  std::uint64_t ddof = 0;
};

/// The result of a reduction.
struct ReducedValue {
  enum class Kind : std::uint8_t {
    undefined,  ///< No result: min, max of no elements; min, max, signs, prod, percentile of complex numbers,
                ///< but not of their |x|.
    real,
    integer,  ///< Exact: counts; min, max, sum, l1 of integers and booleans; from 2^53 on the mean of one integer,
              ///< and a median or percentile of one view of integers that is one of them.
    complex,  ///< mean and sum of complex numbers.
  };

  Kind kind = Kind::undefined;
  double real = 0;        ///< The value; for an integer, rounded; NaN if undefined.
  double imaginary = 0;   ///< 0 except for complex values.
  std::int64_t high = 0;  ///< An integer is high * 2^64 + low.
  std::uint64_t low = 0;

  bool operator==(const ReducedValue&) const = default;
};

/// Returns the decimal digits of an integer, the shortest text that reads back as the same double for a real value
/// (`nan`, `inf`, `-inf`), `(re,im)` for a complex one, and an empty text if undefined.
[[nodiscard]] SMD_EXPORT std::string to_string(const ReducedValue& value);

/// All statistics of a set of elements, without the elements, as plain numbers that can be sent or stored, so that
/// results of shards can be merged. Pairs of doubles are unevaluated sums, about 106 bits.
struct PartialReduction {
  std::uint64_t count = 0;  ///< Number of elements, including NaN and infinities.
  std::uint64_t nan = 0;
  std::uint64_t posinf = 0;
  std::uint64_t neginf = 0;
  std::uint64_t zero = 0;
  std::uint64_t negative = 0;  ///< Below 0, including -inf.
  bool integers = true;        ///< All elements are integers or booleans; then min, max and sums are integers.
  // The remaining fields are of the finite elements. If there are none, min is +infinity and max -infinity.
  double min = 0, max = 0, abs_min = 0;
  /// If `integers`: the exact 128-bit integers of min, max and abs_min.
  std::int64_t min_integer_high = 0, max_integer_high = 0, abs_min_integer_high = 0;
  std::uint64_t min_integer_low = 0, max_integer_low = 0, abs_min_integer_low = 0;
  std::array<double, 2> sum = {}, abs_sum = {};                 ///< Sums of x and of |x|, over elements that are not
                                                                ///< of integer type.
  std::int64_t sum_integer_high = 0, abs_sum_integer_high = 0;  ///< Sums over elements of integer type.
  std::uint64_t sum_integer_low = 0, abs_sum_integer_low = 0;
  std::array<double, 2> m2 = {}, abs_m2 = {};  ///< Sums of squared distances from the mean, of x and of |x|.
  std::array<double, 2> prod = {1, 0};         ///< Product of the finite elements, times 2^prod_exponent.
  std::int64_t prod_exponent = 0;

  bool operator==(const PartialReduction&) const = default;
};

/// Reduces any number of views, as if their elements were one array, in one pass and constant memory (less than 4 KiB,
/// and 56 KiB of stack while adding); median and percentiles keep the elements, in 4 or 8 bytes each.
///
/// Results do not depend on how the elements are split into views, calls and merged reducers: counts, min, max, sum,
/// mean and l1 of real numbers are the same to the bit; variance, std, prod, l2, rms and the abs_ forms of mean, std
/// and variance to 2 units in the last place. This requires squares within double's range: if all |x| are below 1e-120
/// they lose digits, from 1e154 on they are infinite, as in NumPy. Types may be mixed: the result is an integer only
/// if all elements were.
///
/// Not for concurrent use: give each thread its own and merge them.
class SMD_EXPORT Reducer {
 public:
  /// Computes only what `wanted` needs. @throws InvalidArgument for a percentage outside 0 … 100, or `abs` of a kind
  /// that does not support it.
  explicit Reducer(std::span<const Reduction> wanted, const ReduceOptions& options = {});
  Reducer(const Reducer& other);
  Reducer(Reducer&&) noexcept;
  Reducer& operator=(Reducer&&) noexcept;
  ~Reducer();

  /// Adds the elements of a view. @throws InvalidArgument for strings.
  void add(const TensorView& view);
  /// Adds elements from bytes in the layout that `TensorView` describes; ignores bytes after the last whole element.
  void add(Dtype dtype, std::span<const std::byte> bytes);
  /// Adds all elements of an open value, read block by block. Returns false if reading failed; some elements may have
  /// been added. @throws InvalidArgument for strings.
  [[nodiscard]] bool add(Extent& value);

  /// Adds all elements of another reducer, and clears it unless it is this one. Like `add`, it changes nothing if
  /// memory runs out. @throws InvalidArgument if the other reducer has different reductions or options.
  void merge(Reducer&& other);

  /// Returns the result so far. @throws InvalidArgument if those given to the constructor do not imply it.
  [[nodiscard]] ReducedValue result(const Reduction& reduction) const;

  /// Returns the results of the constructor's reductions, in order. @throws InvalidArgument for another size of `into`.
  void results(std::span<ReducedValue> into) const;

  /// Removes all elements. Cheaper than making a new reducer.
  void clear() noexcept;

  /// Returns what can be pooled exactly. Fields that no wanted reduction needs are unspecified.
  /// @throws InvalidArgument if complex numbers were added.
  [[nodiscard]] PartialReduction partial() const;
  /// Adds the result of another reducer's `partial`. @throws InvalidArgument if a reduction needs the values
  /// themselves.
  void merge(const PartialReduction& partial);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Returns reductions of one view, in the requested order. Median and percentiles read the view in place, and keep
/// only the elements near the result; those of moduli of complex numbers keep all moduli.
/// @throws InvalidArgument as `Reducer`.
[[nodiscard]] SMD_EXPORT std::vector<ReducedValue> reduce(const TensorView& view, std::span<const Reduction> wanted,
                                                          const ReduceOptions& options = {});

/// Reduces open values of any size one after another, and keeps its reducer and results, so that many short values cost
/// no allocations. Not for concurrent use: each thread of a `parallel_read` needs its own.
class SMD_EXPORT ValueReducer {
 public:
  /// `mergeable`: `reducer` is needed afterwards, so elements that median and percentiles need are always kept.
  explicit ValueReducer(const ReduceOptions& options = {}, bool mergeable = false)
      : options_(options), mergeable_(mergeable) {}

  /// Reads and reduces a value. Returns false if reading failed. `wanted` is compared by address, and must not change.
  /// @throws InvalidArgument for strings, and as `Reducer`.
  [[nodiscard]] bool reduce(Extent& value, const std::vector<Reduction>& wanted);
  /// The same for elements in memory.
  void reduce(const TensorView& view, const std::vector<Reduction>& wanted);
  /// Returns the results for the last value, in the order of what was wanted. Valid until the next call.
  [[nodiscard]] std::span<const ReducedValue> results();
  /// Returns the reducer that has the last value. Precondition: mergeable.
  [[nodiscard]] Reducer& reducer() noexcept { return *reducer_; }

 private:
  void begin(const std::vector<Reduction>& wanted, std::uint64_t bytes);

  ReduceOptions options_;
  bool mergeable_;
  const std::vector<Reduction>* wanted_ = nullptr;
  bool needs_values_ = false;
  bool at_once_ = false;  ///< `results_` are there already.
  std::optional<Reducer> reducer_;
  std::vector<ReducedValue> results_;
};

}  // namespace smd
