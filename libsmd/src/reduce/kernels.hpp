// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/elements.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

/// The inner loops, compiled for several instruction sets; the best one that the machine supports is chosen at run
/// time. All process one block of at most `block_size` elements: they decode it to doubles once, then read it from the
/// first-level cache as often as the requested reductions need. Benchmark: reduce_micro.cpp.
namespace smd::detail::reduce {

inline constexpr std::size_t block_size = 2048;
/// Number of elements that `stream` takes at once: more than a block, because it decodes to registers only. Long runs
/// take even more, because the work after each call costs as much as 2,000 elements. A long run of float32 takes
/// several calls.
inline constexpr std::size_t stream_size = 4096;
inline constexpr std::size_t long_stream_size = 16384;
inline constexpr std::size_t longest_stream_size = 65536;
inline constexpr std::size_t long_stream_size_of(Dtype type) noexcept {
  const bool shorter = type == Dtype::float32 || type == Dtype::float16 || type == Dtype::bfloat16;
  return shorter ? longest_stream_size : long_stream_size;
}
/// Kernels may read and write up to this many doubles past a block's end.
inline constexpr std::size_t block_padding = 64;

/// Converts elements of a float8 type to bits of bfloat16, which represents them all.
inline void widen_float8(Dtype type, const std::byte* source, std::size_t n, std::uint16_t* wide) noexcept {
  const std::array<float, 256>& numbers = *float8_numbers(type);
  for (std::size_t i = 0; i < n; ++i) {
    wide[i] = static_cast<std::uint16_t>(
        std::bit_cast<std::uint32_t>(numbers[std::to_integer<std::size_t>(source[i])]) >> 16);
  }
}

/// What decoding finds in a block. If the block contains NaN or infinities, only `finite` is meaningful.
struct BlockRange {
  double min = 0;
  double max = 0;
  double smallest = 0;  ///< The smallest |x| other than 0 (or a lower bound, if a stream was not asked for it);
                        ///< infinite if all are 0; 1 for integers.
  bool finite = true;
  bool has_zero = false;   ///< Set only by streams. True also if not requested and not known.
  bool has_signs = false;  ///< If `min` or `max` is 0, its sign is known: min(-0, 0) is -0, max(-0, 0) is 0.
};

/// Sums and extremes of 64-bit integers; sums are exact.
struct IntegerRange {
  std::uint64_t min = 0;  ///< The integer's bits.
  std::uint64_t max = 0;
};

/// How to sum a block. With a bias, an accumulator starts at that value: large enough that the accumulator stays in
/// its binade, so that the part that each addition drops is known exactly and is summed separately.
struct SumPlan {
  bool magnitudes = false;  ///< Also sum |x|.
  bool squares = false;     ///< Also sum x^2.
  /// Squares may have more than 53 bits, and all bits count. Otherwise squares may be rounded. `stream` ignores it.
  bool wide_squares = false;
  /// For `stream` of types shorter than float64: add squares in groups of four or eight before adding them without
  /// error. Faster, but group sums of float32 are rounded if the elements differ in magnitude.
  bool grouped_squares = false;
  bool zeros = false;   ///< For streams: compute `has_zero`, and an exact `smallest` for all types.
  double sum_bias = 0;  ///< 0: x and |x| can be summed without a bias and without error.
  double square_bias = 0;
};

/// Each sum is high + low; high parts are exact.
struct BlockSums {
  double sum = 0, sum_low = 0;
  double magnitude = 0, magnitude_low = 0;
  double square = 0, square_low = 0;
};

/// Sums of 8-bit integers.
struct ByteSums {
  std::int64_t min = 0;
  std::int64_t max = 0;
  std::int64_t sum = 0;
  std::int64_t magnitude = 0;
  std::int64_t square = 0;
};

/// A product: (high + low) * 2^exponent.
struct ScaledProduct {
  double high = 1;
  double low = 0;
  std::int64_t exponent = 0;
};

/// When two finite numbers are equal: |a - b| <= atol + rtol |b|.
struct Tolerance {
  double rtol = 0;
  double atol = 0;
};

/// Results for pairs of elements, with d = |a - b|. Meaningful only if `square_a` and `square_b` are finite: then all
/// elements are.
struct PairSums {
  double magnitude = 0;  ///< Of d.
  double square = 0;     ///< Of d^2.
  double square_a = 0;
  double square_b = 0;
  double product = 0;  ///< Of a b.
  double max_abs = 0;
  double max_rel = 0;  ///< Of d / |b|, 0 / 0 being 0.
  std::uint64_t differing = 0;
};

struct Kernels {
  const char* name;
  /// Converts elements of float64 or a type of at most 32 bits to doubles.
  void (*decode)(Dtype type, const std::byte* source, std::size_t n, double* out, BlockRange& range);
  /// Converts elements of float32 or a type of at most 16 bits to floats, without loss. `out` has padding.
  void (*to_floats)(Dtype type, const std::byte* source, std::size_t n, float* out);
  void (*integer_range)(bool is_signed, const std::byte* source, std::size_t n, IntegerRange& range);
  /// Converts 64-bit integers to doubles: x - base, or |x| - base. Precondition: base is not greater than any of them.
  void (*integer_decode)(bool is_signed, bool magnitude, const std::byte* source, std::size_t n, std::uint64_t base,
                         double* out);
  /// Sums the low halves and the high halves separately: the sum is low + high * 2^32.
  void (*integer_sum)(bool is_signed, bool magnitude, const std::byte* source, std::size_t n, std::uint64_t& low,
                      std::int64_t& high);
  BlockRange (*range)(const double* values, std::size_t n);
  void (*sums)(const double* values, std::size_t n, const SumPlan& plan, BlockSums& sums);
  /// For floating point and 64-bit integers: computes what `decode` finds and `sums` sums in one pass (squares always,
  /// except that without them of 16-bit floats only the range is found)
  /// over `n` elements, a multiple of 64. float64 is summed with the plan's bias, integers with or without one,
  /// shorter types always without. The result is valid only if the biases turn out to be large enough and all elements
  /// are finite; for integers, only if all are below 2^53 in magnitude, 2^51 without a bias. Unsigned integers from
  /// 2^63 on appear negative.
  void (*stream)(Dtype type, const std::byte* source, std::size_t n, const SumPlan& plan, BlockRange& range,
                 BlockSums& sums);
  /// As `product`, for `n` floating-point elements, a multiple of 64, none of them 0. Precondition: no product of
  /// `group` neighbours leaves 2^-900 … 2^900.
  ScaledProduct (*stream_product)(Dtype type, const std::byte* source, std::size_t n, std::size_t group);
  /// For floating point: counts zero and negative elements among `n`, a multiple of 64.
  void (*stream_signs)(Dtype type, const std::byte* source, std::size_t n, std::uint64_t& zero,
                       std::uint64_t& negative);
  /// Returns the bitwise OR and AND of all 64-bit words; `bytes` is a multiple of 64.
  void (*bits)(const std::byte* source, std::size_t bytes, std::uint64_t& any, std::uint64_t& all);
  /// `stream` of 8-bit integers (with `truth`, any byte other than 0 is 1), computed in integers; n is at most
  /// long_stream_size.
  void (*stream_bytes)(bool is_signed, bool truth, const std::byte* source, std::size_t n, ByteSums& sums);
  /// Computes out = x - shift, or |x| - shift, and fills the padding with zeros. `out` may be `values`.
  void (*shift)(const double* values, std::size_t n, bool magnitude, double shift, double* out);
  double (*smallest_magnitude)(const double* values, std::size_t n);
  void (*count_zero_negative)(const double* values, std::size_t n, std::uint64_t& zero, std::uint64_t& negative);
  /// Returns the product of all elements, none of them 0. Precondition: no product of `group` neighbours leaves 2^-900
  /// … 2^900.
  ScaledProduct (*product)(const double* values, std::size_t n, std::size_t group);
  /// Appends the elements between two bounds, both included, to `out` (which has room for n + 64), and counts those
  /// below.
  std::size_t (*between_float)(const std::byte* source, std::size_t n, bool magnitude, float from, float to, float* out,
                               std::size_t& found);
  std::size_t (*between_double)(const std::byte* source, std::size_t n, bool magnitude, double from, double to,
                                double* out, std::size_t& found);
  /// Compares `n` pairs of float64, float32, float16 or bfloat16 elements. `sums.max_rel` must be set to the largest so
  /// far, or 0; the result may miss a larger one that differs only by rounding.
  void (*compare)(Dtype type, const std::byte* a, const std::byte* b, std::size_t n, const Tolerance& tolerance,
                  PairSums& sums);
  /// Returns the sum of x^2 of elements of these types, rounded like those of `compare`.
  double (*square_sum)(Dtype type, const std::byte* source, std::size_t n);
};

/// Returns the kernels for this machine. Chosen once, at first use.
const Kernels& kernels() noexcept;

/// Returns all kernels that this machine supports, best first. For tests and benchmarks.
std::vector<const Kernels*> available_kernels();
/// Selects kernels other than the best. For tests and benchmarks.
void choose_kernels(const Kernels& chosen) noexcept;

}  // namespace smd::detail::reduce
