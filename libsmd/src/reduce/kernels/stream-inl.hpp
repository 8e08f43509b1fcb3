// SPDX-License-Identifier: Apache-2.0
// Extremes and sums in one pass over stored elements.
// Included once for every instruction set: Highway toggles the guard each time.
#if defined(SMD_REDUCE_KERNELS_STREAM_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SMD_REDUCE_KERNELS_STREAM_INL
#undef SMD_REDUCE_KERNELS_STREAM_INL
#else
#define SMD_REDUCE_KERNELS_STREAM_INL
#endif

#include "reduce/kernels.hpp"
#include "reduce/kernels/decode-inl.hpp"
#include "reduce/kernels/extremes-inl.hpp"
#include "reduce/kernels/halves-inl.hpp"

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <cmath>
#include <limits>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace smd::detail::reduce {  // NOLINT(modernize-concat-nested-namespaces): a macro follows
namespace HWY_NAMESPACE {

// Computes extremes and sums without storing doubles in between.
template <class T, bool magnitudes, bool grouped, class Load, class Widen>
HWY_INLINE void stream_floats(const std::byte* source, std::size_t n, const SumPlan& plan, BlockRange& range,
                              BlockSums& result, const Load& load, const Widen& widen) {
  FloatRange extremes;
  extremes.start();
  ShortSums<magnitudes, grouped ? 4 : 1> sums;
  sums.start(plan.square_bias);
  for (std::size_t i = 0; i < n; i += looked_at_twice) {
    const std::size_t part = std::min(looked_at_twice, n - i);
    if (plan.zeros) {
      extremes.take_all<true>(typed<T>(source) + i, part, load);
    } else {
      extremes.take_all<false>(typed<T>(source) + i, part, load);
    }
    sums.template take<sizeof(T)>(typed<T>(source) + i, part, widen, typed<T>(source) + i + part);
  }
  extremes.finish<true>(range);
  sums.finish(plan.square_bias, result);
  range.finite = std::isfinite(result.sum);
}

// Extremes of doubles; for integers only minimum and maximum.
template <bool integers>
struct DoubleRange {
  hn::Vec<Doubles> min;
  hn::Vec<Doubles> max;
  hn::Vec<Doubles> least;

  HWY_INLINE void start() {
    min = least = hn::Set(Doubles(), std::numeric_limits<double>::infinity());
    max = hn::Neg(min);
  }
  HWY_INLINE void take(hn::Vec<Doubles> v, hn::Vec<Doubles> size) {
    min = hn::Min(min, v);
    max = hn::Max(max, v);
    if constexpr (!integers) {
      least = hn::Min(least, size);
    }
  }
  HWY_INLINE void finish(BlockRange& range, const std::byte* source, std::size_t n) const {
    const Doubles d;
    range.min = smallest_of(d, min);
    range.max = largest_of(d, max);
    range.smallest = integers ? 1 : smallest_of(d, least);
    range.has_zero = range.smallest == 0;
    if (range.has_zero) {
      // Only now, because zeros cost three operations for each vector.
      range.smallest = range_of(typed<double>(source), n).smallest;
    }
  }
};

template <class T, bool magnitudes, bool biased, class Load>
HWY_INLINE void stream_doubles(const std::byte* source, std::size_t n, const SumPlan& plan, BlockRange& range,
                               BlockSums& result, const Load& load) {
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d);
  DoubleRange<std::is_integral_v<T>> extremes;
  extremes.start();
  Lane<biased> sum0;
  Lane<biased> sum1;
  Lane<biased> magnitude0;
  Lane<biased> magnitude1;
  Lane<true> square0;
  Lane<true> square1;
  sum0.start(plan.sum_bias);
  sum1.start(plan.sum_bias);
  magnitude0.start(plan.sum_bias);
  magnitude1.start(plan.sum_bias);
  square0.start(plan.square_bias);
  square1.start(plan.square_bias);
  // Each cache line takes so much work that the hardware prefetcher does not look far enough ahead.
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
    if constexpr (biased) {
      sum0.add(v0);
      sum1.add(v1);
    } else {
      sum0.add(hn::Add(v0, v1));
    }
    if constexpr (magnitudes && biased) {
      magnitude0.add(size0);
      magnitude1.add(size1);
    } else if constexpr (magnitudes) {
      magnitude0.add(hn::Add(size0, size1));
    }
    square0.add_wide_square(v0);
    square1.add_wide_square(v1);
  }
  extremes.finish(range, source, n);
  finish_pair(sum0, sum1, plan.sum_bias, result.sum, result.sum_low);
  if constexpr (magnitudes) {
    finish_pair(magnitude0, magnitude1, plan.sum_bias, result.magnitude, result.magnitude_low);
  }
  finish_pair(square0, square1, plan.square_bias, result.square, result.square_low);
  range.finite = std::isfinite(result.sum) && std::isfinite(result.sum_low);
}

template <bool magnitudes, bool grouped>
HWY_INLINE void stream_as(Dtype type, const std::byte* source, std::size_t n, const SumPlan& plan, BlockRange& range,
                          BlockSums& result) {
  if (type == Dtype::int64 || type == Dtype::uint64) {
    return plan.sum_bias == 0
               ? stream_doubles<std::int64_t, magnitudes, false>(source, n, plan, range, result, LoadNarrow())
               : stream_doubles<std::int64_t, magnitudes, true>(source, n, plan, range, result, LoadWide());
  }
  visit_floats(type, [&]<class Stored>(FloatLoads<Stored> as) HWY_ATTR {
    using As = decltype(as);
    const typename As::Load load;
    if constexpr (std::is_same_v<Stored, double>) {
      stream_doubles<double, magnitudes, true>(source, n, plan, range, result, load);
    } else if constexpr (HWY_TARGET == HWY_AVX3 && std::is_same_v<Stored, float>) {
      // `stream_unrounded` handles float32; an empty range is refused
#if HWY_TARGET != HWY_SCALAR
    } else if constexpr (std::is_same_v<Stored, Half>) {
      stream_halves<magnitudes, grouped>(source, n, plan, range, result, load, UnpackHalves());
    } else if constexpr (std::is_same_v<Stored, BFloat16>) {
      stream_halves<magnitudes, grouped>(source, n, plan, range, result, load, UnpackBfloats());
#endif
    } else {
      stream_floats<typename As::T, magnitudes, grouped>(source, n, plan, range, result, load, typename As::Widen());
    }
  });
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
