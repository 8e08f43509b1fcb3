// SPDX-License-Identifier: Apache-2.0
// Sums without error, or nearly, of doubles in memory.
// Read once for every instruction set: Highway turns the guard over each time.
#if defined(SMD_REDUCE_KERNELS_SUMS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SMD_REDUCE_KERNELS_SUMS_INL
#undef SMD_REDUCE_KERNELS_SUMS_INL
#else
#define SMD_REDUCE_KERNELS_SUMS_INL
#endif

#include "reduce/kernels.hpp"
#include "reduce/kernels/load-inl.hpp"

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace smd::detail::reduce {  // NOLINT(modernize-concat-nested-namespaces): a macro follows
namespace HWY_NAMESPACE {

// a + b, by the units that multiply: of those that add all else here needs enough.
HWY_INLINE hn::Vec<Doubles> plus(hn::Vec<Doubles> a, hn::Vec<Doubles> b) {
  if constexpr (fused_multiply) {
    return hn::MulAdd(a, hn::Set(Doubles(), 1.0), b);
  } else {
    return hn::Add(a, b);
  }
}

// One accumulator of SumPlan's kind. Loops name each one by itself: what an index picks GCC keeps in memory.
template <bool biased>
struct Lane {
  hn::Vec<Doubles> sum;
  hn::Vec<Doubles> low;

  HWY_INLINE void start(double bias) {
    sum = hn::Set(Doubles(), bias);
    low = hn::Zero(Doubles());
  }
  HWY_INLINE void add(hn::Vec<Doubles> v) {
    const auto next = plus(v, sum);
    if constexpr (biased) {
      low = plus(hn::Sub(v, hn::Sub(next, sum)), low);
    }
    sum = next;
  }
  HWY_INLINE void add_square(hn::Vec<Doubles> v) {
    if constexpr (fused_multiply) {
      const auto next = hn::MulAdd(v, v, sum);
      low = plus(hn::MulSub(v, v, hn::Sub(next, sum)), low);
      sum = next;
    } else {
      add(hn::Mul(v, v));
    }
  }
};

template <bool biased>
HWY_INLINE void finish(const Lane<biased>& a, const Lane<biased>& b, double bias, double& high, double& low) {
  const Doubles d;
  const auto offset = hn::Set(d, bias);
  high = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Sub(a.sum, offset), hn::Sub(b.sum, offset))));
  low = hn::GetLane(hn::SumOfLanes(d, hn::Add(a.low, b.low)));
}

template <bool biased, bool magnitudes, bool squares>
HWY_INLINE void sums_as(const double* values, std::size_t n, const SumPlan& plan, BlockSums& result) {
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d);
  Lane<biased> sum[2];
  Lane<biased> magnitude[2];
  Lane<true> square[2];
  for (int k = 0; k < 2; ++k) {
    sum[k].start(plan.sum_bias);
    magnitude[k].start(plan.sum_bias);
    square[k].start(plan.square_bias);
  }
  for (std::size_t i = 0; i < n; i += 2 * lanes) {
    const auto v0 = hn::LoadU(d, values + i);
    const auto v1 = hn::LoadU(d, values + i + lanes);
    sum[0].add(v0);
    sum[1].add(v1);
    if constexpr (magnitudes) {
      magnitude[0].add(hn::Abs(v0));
      magnitude[1].add(hn::Abs(v1));
    }
    if constexpr (squares) {
      square[0].add_square(v0);
      square[1].add_square(v1);
    }
  }
  finish(sum[0], sum[1], plan.sum_bias, result.sum, result.sum_low);
  if constexpr (magnitudes) {
    finish(magnitude[0], magnitude[1], plan.sum_bias, result.magnitude, result.magnitude_low);
  }
  if constexpr (squares) {
    finish(square[0], square[1], plan.square_bias, result.square, result.square_low);
  }
}

template <bool biased>
HWY_INLINE void sums_chosen(const double* values, std::size_t n, const SumPlan& plan, BlockSums& result) {
  if (plan.magnitudes && plan.squares) {
    sums_as<biased, true, true>(values, n, plan, result);
  } else if (plan.magnitudes) {
    sums_as<biased, true, false>(values, n, plan, result);
  } else if (plan.squares) {
    sums_as<biased, false, true>(values, n, plan, result);
  } else {
    sums_as<biased, false, false>(values, n, plan, result);
  }
}

inline void sums(const double* values, std::size_t n, const SumPlan& plan, BlockSums& result) {
  if (plan.sum_bias != 0) {
    sums_chosen<true>(values, n, plan, result);
  } else {
    sums_chosen<false>(values, n, plan, result);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace smd::detail::reduce
HWY_AFTER_NAMESPACE();

#endif
