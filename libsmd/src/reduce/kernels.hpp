// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/dtype.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

/// The inner loops, compiled for several instruction sets; the best one that the machine has is taken at run time.
/// All work on one block of at most `block_size` elements: decoded once to doubles, then read from the first-level
/// cache as often as the reductions asked for need.
namespace smd::detail::reduce {

inline constexpr std::size_t block_size = 2048;
/// Elements that `stream` takes at once: more, since it decodes to registers only. Of long runs more still: what comes
/// after each call costs as much as 2,000 elements. Of float32 several calls are made for a long run.
inline constexpr std::size_t stream_size = 4096;
inline constexpr std::size_t long_stream_size = 16384;
inline constexpr std::size_t longest_stream_size = 65536;
inline constexpr std::size_t long_stream_size_of(Dtype type) noexcept {
  return type == Dtype::float32 ? longest_stream_size : long_stream_size;
}
/// Kernels may read and write so many doubles past a block's end.
inline constexpr std::size_t block_padding = 64;

/// What decoding a block finds on its way. Of a block that holds NaN or infinities only `finite` means anything.
struct BlockRange {
  double min = 0;
  double max = 0;
  double smallest = 0;  ///< The least |x| but 0, or less if a stream was not asked; infinite if there is none. 1 for
                        ///< integers.
  bool finite = true;
  bool has_zero = false;  ///< Only streams tell, if asked.
};

/// What 64-bit integers give besides; sums are exact.
struct IntegerRange {
  std::uint64_t min = 0;  ///< The integer's bits.
  std::uint64_t max = 0;
};

/// How to sum a block. With a bias, an accumulator starts there: large enough that every addend leaves it in its
/// binade, so that what an addition drops is known exactly, and is summed by itself.
struct SumPlan {
  bool magnitudes = false;  ///< Sum |x| too.
  bool squares = false;     ///< Sum x^2 too.
  /// Not for `stream`: squares may have more than 53 bits, and all of them count. Without it they may be rounded.
  bool wide_squares = false;
  /// For `stream` of types shorter than float64: squares are added by fours or eights before they are added without
  /// error. Faster, but sums of groups of float32 are rounded, if the elements' sizes differ.
  bool grouped_squares = false;
  bool zeros = false;   ///< For streams: `has_zero` is wanted, and a true `smallest` of all types.
  double sum_bias = 0;  ///< 0: x and |x| can be summed as they are, without error.
  double square_bias = 0;
};

/// Each sum is high + low; high parts are exact.
struct BlockSums {
  double sum = 0, sum_low = 0;
  double magnitude = 0, magnitude_low = 0;
  double square = 0, square_low = 0;
};

/// Of 8-bit integers.
struct ByteSums {
  std::int64_t min = 0;
  std::int64_t max = 0;
  std::int64_t sum = 0;
  std::int64_t magnitude = 0;
  std::int64_t square = 0;
};

struct Kernels {
  const char* name;
  /// Whether there is a fused multiply-add. Without it `stream` of doubles and 64-bit integers loses squares' low
  /// parts.
  bool fused;
  /// Elements of a type of at most 32 bits, or float64, to doubles.
  void (*decode)(Dtype type, const std::byte* source, std::size_t n, double* out, BlockRange& range);
  /// Elements of a type of at most 16 bits, or float32, to floats, which hold them all. `out` has padding.
  void (*to_floats)(Dtype type, const std::byte* source, std::size_t n, float* out);
  void (*integer_range)(bool is_signed, const std::byte* source, std::size_t n, IntegerRange& range);
  /// x - base, or |x| - base, of 64-bit integers, to doubles; base is not above any of them.
  void (*integer_decode)(bool is_signed, bool magnitude, const std::byte* source, std::size_t n, std::uint64_t base,
                         double* out);
  /// Sums of the low and of the high halves: the sum is low + high * 2^32.
  void (*integer_sum)(bool is_signed, bool magnitude, const std::byte* source, std::size_t n, std::uint64_t& low,
                      std::int64_t& high);
  BlockRange (*range)(const double* values, std::size_t n);
  void (*sums)(const double* values, std::size_t n, const SumPlan& plan, BlockSums& sums);
  /// Of floating point and 64-bit integers: what `decode` finds and `sums` sums, squares always, in one pass over `n`
  /// elements, a multiple of 64. float64 and integers are summed with the plan's bias, integers also without one,
  /// shorter types always without. Good only if the biases turn out to have been large enough, and all is finite; of
  /// integers only if none is 2^53 or more in size, 2^51 without a bias. Unsigned ones from 2^63 on appear as negative.
  void (*stream)(Dtype type, const std::byte* source, std::size_t n, const SumPlan& plan, BlockRange& range,
                 BlockSums& sums);
  /// `stream` of float32 that needs no `smallest` to know whether the sums of x and of |x| are right: the machine tells
  /// whether an addition was rounded; false if one was. `smallest` is found if `zeros` are. Null where the squares,
  /// which may be rounded, would be noticed too; elsewhere `stream` is never asked about float32.
  bool (*stream_unrounded)(const std::byte* source, std::size_t n, const SumPlan& plan, BlockRange& range,
                           BlockSums& sums);
  /// Of floating point, as `product`, of `n` elements, a multiple of 64, none of them 0. No `group` products of two
  /// neighbours leave 2^-900 … 2^900.
  void (*stream_product)(Dtype type, const std::byte* source, std::size_t n, std::size_t group, double& high,
                         double& low, std::int64_t& exponent);
  /// Of floating point: how many are zero, how many negative, of `n` elements, a multiple of 64.
  void (*stream_signs)(Dtype type, const std::byte* source, std::size_t n, std::uint64_t& zero,
                       std::uint64_t& negative);
  /// The bits that some, and those that all words of 64 bits have; `bytes` is a multiple of 64.
  void (*bits)(const std::byte* source, std::size_t bytes, std::uint64_t& any, std::uint64_t& all);
  /// `stream` of 8-bit integers (of `truth`: any byte but 0 is 1), in integers throughout; n is at most
  /// long_stream_size.
  void (*stream_bytes)(bool is_signed, bool truth, const std::byte* source, std::size_t n, ByteSums& sums);
  /// out = x - shift, or |x| - shift; and zeros up to the padding. In place is allowed.
  void (*shift)(const double* values, std::size_t n, bool magnitude, double shift, double* out);
  double (*smallest_magnitude)(const double* values, std::size_t n);
  void (*count_zero_negative)(const double* values, std::size_t n, std::uint64_t& zero, std::uint64_t& negative);
  /// Product of all, none of them 0, as (high + low) * 2^exponent. No `group` neighbours' product leaves
  /// 2^-900 … 2^900.
  void (*product)(const double* values, std::size_t n, std::size_t group, double& high, double& low,
                  std::int64_t& exponent);
  /// Elements between two bounds, both included, are appended to `out` (which has room for n + 64); how many lie below.
  std::size_t (*between_float)(const std::byte* source, std::size_t n, bool magnitude, float from, float to, float* out,
                               std::size_t& found);
  std::size_t (*between_double)(const std::byte* source, std::size_t n, bool magnitude, double from, double to,
                                double* out, std::size_t& found);
};

/// Those of this machine. Chosen once, at first use.
const Kernels& kernels() noexcept;

/// All that this machine can run, best first; and a way to take another than the best. For tests and benchmarks.
std::vector<const Kernels*> available_kernels();
void choose_kernels(const Kernels& chosen) noexcept;

}  // namespace smd::detail::reduce
