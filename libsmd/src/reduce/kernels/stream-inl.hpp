// SPDX-License-Identifier: Apache-2.0
// Extremes and sums in one pass over elements as they were saved.
// Read once for every instruction set: Highway turns the guard over each time.
#if defined(SMD_REDUCE_KERNELS_STREAM_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SMD_REDUCE_KERNELS_STREAM_INL
#undef SMD_REDUCE_KERNELS_STREAM_INL
#else
#define SMD_REDUCE_KERNELS_STREAM_INL
#endif

#include "reduce/kernels.hpp"
#include "reduce/kernels/halves-inl.hpp"

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <bit>
#include <cmath>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace smd::detail::reduce {  // NOLINT(modernize-concat-nested-namespaces): a macro follows
namespace HWY_NAMESPACE {

// Extremes and sums in one pass, without doubles stored in between.
template <class T, bool magnitudes, bool grouped, class Load>
HWY_INLINE void stream_floats(const std::byte* source, std::size_t n, const SumPlan& plan, BlockRange& range,
                              BlockSums& result, const Load& load) {
  const hn::ScalableTag<float> df;
  const hn::RebindToUnsigned<decltype(df)> du;
  const std::size_t lanes = hn::Lanes(df);
  auto min = hn::Set(df, std::numeric_limits<float>::infinity());
  auto max = hn::Set(df, -std::numeric_limits<float>::infinity());
  auto smallest = hn::Set(du, ~std::uint32_t{0});
  auto sizes = hn::Zero(du);  // all |x| - 1: only that of 0 has the highest bit
  const auto one = hn::Set(du, std::uint32_t{1});
  Lane<false> sum0;
  Lane<false> sum1;
  Lane<false> magnitude0;
  Lane<false> magnitude1;
  Lane<true> square0;
  Lane<true> square1;
  sum0.start(0);
  sum1.start(0);
  magnitude0.start(0);
  magnitude1.start(0);
  square0.start(plan.square_bias);
  square1.start(plan.square_bias);
  for (std::size_t i = 0; i < n; i += 2 * lanes) {
    const T* const from = typed<T>(source) + i;
    const auto a = load(df, from);
    const auto b = load(df, from + lanes);
    min = hn::Min(min, hn::Min(a, b));
    max = hn::Max(max, hn::Max(a, b));
    const auto size_a = hn::Sub(hn::BitCast(du, hn::Abs(a)), one);
    const auto size_b = hn::Sub(hn::BitCast(du, hn::Abs(b)), one);
    smallest = hn::Min(smallest, hn::Min(size_a, size_b));
    sizes = hn::Or(sizes, hn::Or(size_a, size_b));
    hn::Vec<Doubles> v0;
    hn::Vec<Doubles> v1;
    hn::Vec<Doubles> v2;
    hn::Vec<Doubles> v3;
    widen(from, a, v0, v1);
    widen(from + lanes, b, v2, v3);
    sum0.add(v0);
    sum1.add(v1);
    sum0.add(v2);
    sum1.add(v3);
    if constexpr (magnitudes) {
      magnitude0.add(hn::Abs(v0));
      magnitude1.add(hn::Abs(v1));
      magnitude0.add(hn::Abs(v2));
      magnitude1.add(hn::Abs(v3));
    }
    if constexpr (grouped) {
      // Each square is exact; four of like size too.
      square0.add(plus(hn::MulAdd(v1, v1, hn::Mul(v0, v0)), hn::MulAdd(v3, v3, hn::Mul(v2, v2))));
    } else {
      square0.add_square(v0);
      square1.add_square(v1);
      square0.add_square(v2);
      square1.add_square(v3);
    }
  }
  range.min = smallest_of(df, min);
  range.max = largest_of(df, max);
  const std::uint32_t bits = hn::GetLane(hn::MinOfLanes(du, smallest)) + 1U;
  range.smallest = bits == 0 ? std::numeric_limits<double>::infinity() : std::bit_cast<float>(bits);
  range.has_zero = (hn::GetLane(hn::MaxOfLanes(du, sizes)) >> 31U) != 0;
  finish(sum0, sum1, 0, result.sum, result.sum_low);
  if constexpr (magnitudes) {
    finish(magnitude0, magnitude1, 0, result.magnitude, result.magnitude_low);
  }
  finish(square0, square1, plan.square_bias, result.square, result.square_low);
  range.finite = std::isfinite(result.sum);
}

// Extremes of doubles.
struct DoubleRange {
  hn::Vec<Doubles> min;
  hn::Vec<Doubles> max;
  hn::Vec<Doubles> smallest;
  hn::Vec<Doubles> least;

  HWY_INLINE void start() {
    min = smallest = least = hn::Set(Doubles(), std::numeric_limits<double>::infinity());
    max = hn::Neg(min);
  }
  HWY_INLINE void take(hn::Vec<Doubles> v, hn::Vec<Doubles> size) {
    const Doubles d;
    min = hn::Min(min, v);
    max = hn::Max(max, v);
    const auto infinity = hn::Set(d, std::numeric_limits<double>::infinity());
    smallest = hn::Min(smallest, hn::IfThenElse(hn::Eq(size, hn::Zero(d)), infinity, size));
    least = hn::Min(least, size);
  }
  HWY_INLINE void finish(BlockRange& range) const {
    const Doubles d;
    range.min = smallest_of(d, min);
    range.max = largest_of(d, max);
    range.smallest = smallest_of(d, smallest);
    range.has_zero = smallest_of(d, least) == 0;
  }
};

template <class T, bool magnitudes, class Load>
HWY_INLINE void stream_doubles(const std::byte* source, std::size_t n, const SumPlan& plan, BlockRange& range,
                               BlockSums& result, const Load& load) {
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d);
  DoubleRange extremes;
  extremes.start();
  Lane<true> sum0;
  Lane<true> sum1;
  Lane<true> magnitude0;
  Lane<true> magnitude1;
  Lane<true> square0;
  Lane<true> square1;
  sum0.start(plan.sum_bias);
  sum1.start(plan.sum_bias);
  magnitude0.start(plan.sum_bias);
  magnitude1.start(plan.sum_bias);
  square0.start(plan.square_bias);
  square1.start(plan.square_bias);
  // So much work is done on each line of the cache that the machine does not look far enough ahead by itself.
  constexpr std::size_t ahead = 2048 / sizeof(T);
  for (std::size_t i = 0; i < n; i += 2 * lanes) {
    const T* const from = typed<T>(source) + i;
    hwy::Prefetch(from + ahead);
    hwy::Prefetch(from + ahead + lanes);
    const auto v0 = load(d, from);
    const auto v1 = load(d, from + lanes);
    const auto size0 = hn::Abs(v0);
    const auto size1 = hn::Abs(v1);
    extremes.take(v0, size0);
    extremes.take(v1, size1);
    sum0.add(v0);
    sum1.add(v1);
    if constexpr (magnitudes) {
      magnitude0.add(size0);
      magnitude1.add(size1);
    }
    square0.add_square(v0);
    square1.add_square(v1);
  }
  extremes.finish(range);
  finish(sum0, sum1, plan.sum_bias, result.sum, result.sum_low);
  if constexpr (magnitudes) {
    finish(magnitude0, magnitude1, plan.sum_bias, result.magnitude, result.magnitude_low);
  }
  finish(square0, square1, plan.square_bias, result.square, result.square_low);
  range.finite = std::isfinite(result.sum) && std::isfinite(result.sum_low);
}

template <bool magnitudes, bool grouped>
HWY_INLINE void stream_as(Dtype type, const std::byte* source, std::size_t n, const SumPlan& plan, BlockRange& range,
                          BlockSums& result) {
  switch (type) {
    case Dtype::float32:
      return stream_floats<float, magnitudes, grouped>(source, n, plan, range, result, LoadFloat());
#if HWY_TARGET == HWY_SCALAR
    case Dtype::float16:
      return stream_floats<std::uint16_t, magnitudes, grouped>(source, n, plan, range, result, LoadHalf());
    case Dtype::bfloat16:
      return stream_floats<std::uint16_t, magnitudes, grouped>(source, n, plan, range, result, LoadBfloat());
#else
    case Dtype::float16:
      return stream_halves<magnitudes, grouped>(source, n, plan, range, result, LoadHalf(), WidenHalves());
    case Dtype::bfloat16:
      return stream_halves<magnitudes, grouped>(source, n, plan, range, result, LoadBfloat(), WidenBfloats());
#endif
    case Dtype::int64:
    case Dtype::uint64:
      return stream_doubles<std::int64_t, magnitudes>(source, n, plan, range, result, LoadWide());
    default:
      return stream_doubles<double, magnitudes>(source, n, plan, range, result, LoadDouble());
  }
}

inline void stream(Dtype type, const std::byte* source, std::size_t n, const SumPlan& plan, BlockRange& range,
                   BlockSums& result) {
  if (plan.magnitudes && plan.grouped_squares) {
    stream_as<true, true>(type, source, n, plan, range, result);
  } else if (plan.magnitudes) {
    stream_as<true, false>(type, source, n, plan, range, result);
  } else if (plan.grouped_squares) {
    stream_as<false, true>(type, source, n, plan, range, result);
  } else {
    stream_as<false, false>(type, source, n, plan, range, result);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace smd::detail::reduce
HWY_AFTER_NAMESPACE();

#endif
