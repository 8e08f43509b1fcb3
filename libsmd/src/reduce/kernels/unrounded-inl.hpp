// SPDX-License-Identifier: Apache-2.0
// float32 on processors that report whether a sum was rounded.
// Included once for every instruction set: Highway toggles the guard each time.
#if defined(SMD_REDUCE_KERNELS_UNROUNDED_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SMD_REDUCE_KERNELS_UNROUNDED_INL
#undef SMD_REDUCE_KERNELS_UNROUNDED_INL
#else
#define SMD_REDUCE_KERNELS_UNROUNDED_INL
#endif

#include "reduce/kernels.hpp"
#include "reduce/kernels/extremes-inl.hpp"
#include "reduce/kernels/sums-inl.hpp"

#include <hwy/highway.h>

#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace smd::detail::reduce {  // NOLINT(modernize-concat-nested-namespaces): a macro follows
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX3
// Sums squares as SumPlan says, without setting the processor's flag for rounding.
struct QuietSquares {
  static constexpr int quietly = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
  __m512d sum;
  __m512d low;

  HWY_INLINE void start(double bias) {
    sum = _mm512_set1_pd(bias);
    low = _mm512_setzero_pd();
  }
  HWY_INLINE void add(hn::Vec<Doubles> v) {
    const __m512d next = square_and(v, sum);
    const __m512d added = _mm512_sub_round_pd(next, sum, quietly);
    low = _mm512_add_round_pd(_mm512_fmsub_round_pd(v.raw, v.raw, added, quietly), low, quietly);
    sum = next;
  }
  // Adds four squares to one number.
  HWY_INLINE static __m512d four(hn::Vec<Doubles> v0, hn::Vec<Doubles> v1, hn::Vec<Doubles> v2, hn::Vec<Doubles> v3) {
    return square_and(v3, square_and(v2, square_and(v1, _mm512_mul_round_pd(v0.raw, v0.raw, quietly))));
  }
  HWY_INLINE void add_both(__m512d a, __m512d b) {
    const __m512d both = _mm512_add_round_pd(a, b, quietly);
    const __m512d next = _mm512_add_round_pd(both, sum, quietly);
    const __m512d added = _mm512_sub_round_pd(next, sum, quietly);
    low = _mm512_add_round_pd(_mm512_sub_round_pd(both, added, quietly), low, quietly);
    sum = next;
  }
  // Keeps later computations after this point: they may set the flag.
  HWY_INLINE void pin() { asm volatile("" : "+v"(sum), "+v"(low)); }
  HWY_INLINE void finish(double bias, double& high_part, double& low_part) const {
    const Doubles d;
    high_part += hn::GetLane(hn::SumOfLanes(d, hn::Sub(hn::Vec<Doubles>{sum}, hn::Set(d, bias))));
    low_part += hn::GetLane(hn::SumOfLanes(d, hn::Vec<Doubles>{low}));
  }

 private:
  HWY_INLINE static __m512d square_and(hn::Vec<Doubles> v, __m512d more) {
    return _mm512_fmadd_round_pd(v.raw, v.raw, more, quietly);
  }
};

// Four sums, each of one vector of doubles: a single sum would have to wait for each addition.
struct FourSums {
  hn::Vec<Doubles> sum0;
  hn::Vec<Doubles> sum1;
  hn::Vec<Doubles> sum2;
  hn::Vec<Doubles> sum3;

  HWY_INLINE void start() { sum0 = sum1 = sum2 = sum3 = hn::Zero(Doubles()); }
  HWY_INLINE void add(hn::Vec<Doubles> v0, hn::Vec<Doubles> v1, hn::Vec<Doubles> v2, hn::Vec<Doubles> v3) {
    sum0 = plus(v0, sum0);
    sum1 = plus(v1, sum1);
    sum2 = plus(v2, sum2);
    sum3 = plus(v3, sum3);
  }
  [[nodiscard]] HWY_INLINE double all() const {
    return hn::GetLane(hn::SumOfLanes(Doubles(), hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3))));
  }
  // Keeps computations with these sums between the statements before and after.
  HWY_INLINE void pin() { asm volatile("" : "+v"(sum0.raw), "+v"(sum1.raw), "+v"(sum2.raw), "+v"(sum3.raw)); }
};

template <bool zeros, bool magnitudes, bool grouped>
HWY_INLINE bool stream_unrounded_as(const std::byte* source, std::size_t n, const SumPlan& plan, BlockRange& range,
                                    BlockSums& result) {
  constexpr unsigned rounded = 0x20;  // the precision flag of MXCSR: Intel's manual, volume 1, 10.2.3
  const hn::ScalableTag<float> df;
  constexpr std::size_t lanes = 16;
  FloatRange extremes;
  extremes.start();
  FourSums sum;
  FourSums magnitude;
  sum.start();
  magnitude.start();
  QuietSquares square0;
  QuietSquares square1;
  square0.start(plan.square_bias);
  square1.start(plan.square_bias);
  const unsigned status = _mm_getcsr();
  _mm_setcsr(status & ~rounded);
  sum.pin();
  magnitude.pin();
  for (std::size_t i = 0; i < n; i += 4 * lanes) {
    const float* const from = typed<float>(source) + i;
    extremes.take_four<zeros, zeros>(hn::LoadU(df, from), hn::LoadU(df, from + lanes), hn::LoadU(df, from + 2 * lanes),
                                     hn::LoadU(df, from + 3 * lanes));
    hn::Vec<Doubles> v0, v1, v2, v3, v4, v5, v6, v7;
    const WidenFloats widen;
    widen(from, v0, v1);
    widen(from + lanes, v2, v3);
    widen(from + 2 * lanes, v4, v5);
    widen(from + 3 * lanes, v6, v7);
    sum.add(v0, v1, v2, v3);
    sum.add(v4, v5, v6, v7);
    if constexpr (magnitudes) {
      magnitude.add(hn::Abs(v0), hn::Abs(v1), hn::Abs(v2), hn::Abs(v3));
      magnitude.add(hn::Abs(v4), hn::Abs(v5), hn::Abs(v6), hn::Abs(v7));
    }
    if constexpr (grouped) {
      square0.add_both(QuietSquares::four(v0, v1, v2, v3), QuietSquares::four(v4, v5, v6, v7));
    } else {
      square0.add(v0);
      square1.add(v1);
      square0.add(v2);
      square1.add(v3);
      square0.add(v4);
      square1.add(v5);
      square0.add(v6);
      square1.add(v7);
    }
  }
  result.sum = sum.all();
  result.magnitude = magnitudes ? magnitude.all() : 0;
  asm volatile("" : "+x"(result.sum), "+x"(result.magnitude));
  const bool exact = (_mm_getcsr() & rounded) == 0;
  _mm_setcsr(status);
  square0.pin();
  square1.pin();
  result.square = result.square_low = 0;
  square0.finish(plan.square_bias, result.square, result.square_low);
  square1.finish(plan.square_bias, result.square, result.square_low);
  extremes.finish<zeros>(range);
  range.finite = std::isfinite(result.sum);
  return exact;
}

template <bool zeros>
HWY_INLINE bool stream_unrounded_with(const std::byte* source, std::size_t n, const SumPlan& plan, BlockRange& range,
                                      BlockSums& result) {
  if (plan.grouped_squares) {
    return plan.magnitudes ? stream_unrounded_as<zeros, true, true>(source, n, plan, range, result)
                           : stream_unrounded_as<zeros, false, true>(source, n, plan, range, result);
  }
  return plan.magnitudes ? stream_unrounded_as<zeros, true, false>(source, n, plan, range, result)
                         : stream_unrounded_as<zeros, false, false>(source, n, plan, range, result);
}

inline bool stream_unrounded(const std::byte* source, std::size_t n, const SumPlan& plan, BlockRange& range,
                             BlockSums& result) {
  return plan.zeros ? stream_unrounded_with<true>(source, n, plan, range, result)
                    : stream_unrounded_with<false>(source, n, plan, range, result);
}
#else
constexpr bool (*stream_unrounded)(const std::byte*, std::size_t, const SumPlan&, BlockRange&, BlockSums&) = nullptr;
#endif

}  // namespace HWY_NAMESPACE
}  // namespace smd::detail::reduce
HWY_AFTER_NAMESPACE();

#endif
