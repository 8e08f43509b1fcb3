// SPDX-License-Identifier: Apache-2.0
// float32 where the machine tells whether a sum was rounded.
// Read once for every instruction set: Highway turns the guard over each time.
#if defined(SMD_REDUCE_KERNELS_UNROUNDED_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SMD_REDUCE_KERNELS_UNROUNDED_INL
#undef SMD_REDUCE_KERNELS_UNROUNDED_INL
#else
#define SMD_REDUCE_KERNELS_UNROUNDED_INL
#endif

#include "reduce/kernels.hpp"
#include "reduce/kernels/sums-inl.hpp"

#include <hwy/highway.h>

#include <cmath>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace smd::detail::reduce {  // NOLINT(modernize-concat-nested-namespaces): a macro follows
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX3
// Squares, without a note in the machine's status that they were rounded.
HWY_INLINE __m512d add_quietly(__m512d a, __m512d b) {
  return _mm512_add_round_pd(a, b, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
HWY_INLINE __m512d subtract_quietly(__m512d a, __m512d b) {
  return _mm512_sub_round_pd(a, b, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
HWY_INLINE __m512d square_quietly(__m512d a) {
  return _mm512_mul_round_pd(a, a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
HWY_INLINE __m512d add_square_quietly(__m512d a, __m512d sum) {
  return _mm512_fmadd_round_pd(a, a, sum, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

// Four vectors of doubles, summed each by itself: one after the other would wait for the one before.
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
  // What is computed with these is computed between the statements before and after.
  HWY_INLINE void pin() { asm volatile("" : "+v"(sum0.raw), "+v"(sum1.raw), "+v"(sum2.raw), "+v"(sum3.raw)); }
};

template <bool magnitudes>
HWY_INLINE bool stream_unrounded_as(const std::byte* source, std::size_t n, const SumPlan& plan, BlockRange& range,
                                    BlockSums& result) {
  constexpr unsigned rounded = 0x20;  // MXCSR's precision flag: Intel's manual, volume 1, 10.2.3
  const hn::ScalableTag<float> df;
  const Doubles d;
  constexpr std::size_t lanes = 16;
  auto min = hn::Set(df, std::numeric_limits<float>::infinity());
  auto max = hn::Set(df, -std::numeric_limits<float>::infinity());
  FourSums sum;
  FourSums magnitude;
  sum.start();
  magnitude.start();
  Lane<true> square;
  square.start(plan.square_bias);
  const unsigned status = _mm_getcsr();
  _mm_setcsr(status & ~rounded);
  sum.pin();
  magnitude.pin();
  for (std::size_t i = 0; i < n; i += 4 * lanes) {
    const float* const from = typed<float>(source) + i;
    const auto a = hn::LoadU(df, from);
    const auto b = hn::LoadU(df, from + lanes);
    const auto c = hn::LoadU(df, from + 2 * lanes);
    const auto e = hn::LoadU(df, from + 3 * lanes);
    min = hn::Min(min, hn::Min(hn::Min(a, b), hn::Min(c, e)));
    max = hn::Max(max, hn::Max(hn::Max(a, b), hn::Max(c, e)));
    hn::Vec<Doubles> v0, v1, v2, v3, v4, v5, v6, v7;
    widen(from, a, v0, v1);
    widen(from + lanes, b, v2, v3);
    widen(from + 2 * lanes, c, v4, v5);
    widen(from + 3 * lanes, e, v6, v7);
    sum.add(v0, v1, v2, v3);
    sum.add(v4, v5, v6, v7);
    if constexpr (magnitudes) {
      magnitude.add(hn::Abs(v0), hn::Abs(v1), hn::Abs(v2), hn::Abs(v3));
      magnitude.add(hn::Abs(v4), hn::Abs(v5), hn::Abs(v6), hn::Abs(v7));
    }
    const auto four =
        add_square_quietly(v3.raw, add_square_quietly(v2.raw, add_square_quietly(v1.raw, square_quietly(v0.raw))));
    const auto more =
        add_square_quietly(v7.raw, add_square_quietly(v6.raw, add_square_quietly(v5.raw, square_quietly(v4.raw))));
    const auto eight = add_quietly(four, more);
    const auto next = add_quietly(eight, square.sum.raw);
    square.low.raw = add_quietly(subtract_quietly(eight, subtract_quietly(next, square.sum.raw)), square.low.raw);
    square.sum.raw = next;
  }
  result.sum = sum.all();
  result.magnitude = magnitudes ? magnitude.all() : 0;
  asm volatile("" : "+x"(result.sum), "+x"(result.magnitude));
  const bool exact = (_mm_getcsr() & rounded) == 0;
  _mm_setcsr(status);
  // What follows is rounded, and comes after the look at the status.
  asm volatile("" : "+v"(square.sum.raw), "+v"(square.low.raw));
  const auto bias = hn::Set(d, plan.square_bias);
  result.square = hn::GetLane(hn::SumOfLanes(d, hn::Sub(square.sum, bias)));
  result.square_low = hn::GetLane(hn::SumOfLanes(d, square.low));
  range.min = smallest_of(df, min);
  range.max = largest_of(df, max);
  range.finite = std::isfinite(result.sum);
  return exact;
}

bool stream_unrounded(const std::byte* source, std::size_t n, const SumPlan& plan, BlockRange& range,
                      BlockSums& result) {
  return plan.magnitudes ? stream_unrounded_as<true>(source, n, plan, range, result)
                         : stream_unrounded_as<false>(source, n, plan, range, result);
}
#else
constexpr bool (*stream_unrounded)(const std::byte*, std::size_t, const SumPlan&, BlockRange&, BlockSums&) = nullptr;
#endif

}  // namespace HWY_NAMESPACE
}  // namespace smd::detail::reduce
HWY_AFTER_NAMESPACE();

#endif
