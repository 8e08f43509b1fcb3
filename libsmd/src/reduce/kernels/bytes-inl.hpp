// SPDX-License-Identifier: Apache-2.0
// 8-bit integers, computed in integers.
// Included once for every instruction set: Highway toggles the guard each time.
#if defined(SMD_REDUCE_KERNELS_BYTES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SMD_REDUCE_KERNELS_BYTES_INL
#undef SMD_REDUCE_KERNELS_BYTES_INL
#else
#define SMD_REDUCE_KERNELS_BYTES_INL
#endif

#include "reduce/kernels.hpp"
#include "reduce/kernels/load-inl.hpp"

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace smd::detail::reduce {  // NOLINT(modernize-concat-nested-namespaces): a macro follows
namespace HWY_NAMESPACE {

template <class T>
HWY_INLINE void stream_bytes_as(bool truth, const std::byte* source, std::size_t n, ByteSums& result) {
  const hn::ScalableTag<std::int16_t> d;
  const hn::ScalableTag<std::int32_t> wide;
  const hn::Rebind<T, decltype(d)> narrow;
  const auto one = hn::Set(d, std::int16_t{1});
  auto min = hn::Set(d, std::int16_t{32767});
  auto max = hn::Set(d, std::int16_t{-32768});
  // Two accumulators each: products of neighbours, or of odd and even lanes, depending on the instruction set.
  auto sum = hn::Zero(wide);
  auto sum_more = hn::Zero(wide);
  auto magnitude = hn::Zero(wide);
  auto magnitude_more = hn::Zero(wide);
  auto square = hn::Zero(wide);
  auto square_more = hn::Zero(wide);
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
    auto v = hn::PromoteTo(d, hn::LoadU(narrow, typed<T>(source) + i));
    if (truth) {
      v = hn::Min(v, one);
    }
    min = hn::Min(min, v);
    max = hn::Max(max, v);
    sum = hn::ReorderWidenMulAccumulate(wide, v, one, sum, sum_more);
    magnitude = hn::ReorderWidenMulAccumulate(wide, hn::Abs(v), one, magnitude, magnitude_more);
    square = hn::ReorderWidenMulAccumulate(wide, v, v, square, square_more);
  }
  // One by one, because not every instruction set reduces 16-bit lanes.
  HWY_ALIGN std::int16_t lanes[2][64];
  hn::Store(min, d, lanes[0]);
  hn::Store(max, d, lanes[1]);
  result.min = lanes[0][0];
  result.max = lanes[1][0];
  for (std::size_t i = 1; i < hn::Lanes(d); ++i) {
    result.min = lanes[0][i] < result.min ? lanes[0][i] : result.min;
    result.max = lanes[1][i] > result.max ? lanes[1][i] : result.max;
  }
  result.sum = hn::GetLane(hn::SumOfLanes(wide, hn::Add(sum, sum_more)));
  result.magnitude = hn::GetLane(hn::SumOfLanes(wide, hn::Add(magnitude, magnitude_more)));
  result.square = hn::GetLane(hn::SumOfLanes(wide, hn::Add(square, square_more)));
}

inline void stream_bytes(bool is_signed, bool truth, const std::byte* source, std::size_t n, ByteSums& result) {
  if (is_signed) {
    stream_bytes_as<std::int8_t>(false, source, n, result);
  } else {
    stream_bytes_as<std::uint8_t>(truth, source, n, result);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace smd::detail::reduce
HWY_AFTER_NAMESPACE();

#endif
