// SPDX-License-Identifier: Apache-2.0
// Streams 16-bit floats.
// Included once for every instruction set: Highway toggles the guard each time.
#if defined(SMD_REDUCE_KERNELS_HALVES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SMD_REDUCE_KERNELS_HALVES_INL
#undef SMD_REDUCE_KERNELS_HALVES_INL
#else
#define SMD_REDUCE_KERNELS_HALVES_INL
#endif

#include "reduce/kernels.hpp"
#include "reduce/kernels/sums-inl.hpp"

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace smd::detail::reduce {  // NOLINT(modernize-concat-nested-namespaces): a macro follows
namespace HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
// Extremes of 16-bit floats. Without the sign, their bits order as their values do, so no conversion is needed and a
// vector holds twice as many. `least`: find the smallest |x| other than 0, and whether there is a 0.
template <bool least>
struct HalfRange {
  using Bits = hn::ScalableTag<std::uint16_t>;
  using SignedBits = hn::RebindToSigned<Bits>;

  hn::Vec<SignedBits> highest;  // the greatest that is not negative
  hn::Vec<Bits> lowest;         // the most negative
  hn::Vec<Bits> nearest;        // if all have one sign, the one nearest to 0
  hn::Vec<Bits> smallest;       // minimum of |x| - 1, if requested; 0 wraps to the greatest value
  hn::Vec<Bits> sizes;          // bitwise OR of all |x| - 1, if requested; only 0 sets the highest bit

  HWY_INLINE void start() {
    highest = hn::Set(SignedBits(), std::numeric_limits<std::int16_t>::min());
    lowest = hn::Zero(Bits());
    nearest = smallest = hn::Set(Bits(), std::uint16_t{0xFFFF});
    sizes = hn::Zero(Bits());
  }

  HWY_INLINE void take(const std::uint16_t* from) {
    const Bits du;
    const auto bits = hn::LoadU(du, from);
    highest = hn::Max(highest, hn::BitCast(SignedBits(), bits));
    lowest = hn::Max(lowest, bits);
    nearest = hn::Min(nearest, bits);
    if constexpr (least) {
      const auto size = hn::Sub(hn::And(bits, hn::Set(du, std::uint16_t{0x7FFF})), hn::Set(du, std::uint16_t{1}));
      smallest = hn::Min(smallest, size);
      sizes = hn::Or(sizes, size);
    }
  }

  template <class Load>
  HWY_INLINE void finish(BlockRange& range, const Load& load) const {
    // Not every instruction set reduces 16-bit lanes.
    HWY_ALIGN std::uint16_t lanes[5][64];
    hn::Store(hn::BitCast(Bits(), highest), Bits(), lanes[0]);
    hn::Store(lowest, Bits(), lanes[1]);
    hn::Store(nearest, Bits(), lanes[2]);
    hn::Store(smallest, Bits(), lanes[3]);
    hn::Store(sizes, Bits(), lanes[4]);
    auto high = static_cast<std::int16_t>(lanes[0][0]);
    std::uint16_t low = lanes[1][0];
    std::uint16_t near = lanes[2][0];
    std::uint16_t small = lanes[3][0];
    unsigned all = lanes[4][0];
    for (std::size_t i = 1; i < hn::Lanes(Bits()); ++i) {
      high = std::max(high, static_cast<std::int16_t>(lanes[0][i]));
      low = std::max(low, lanes[1][i]);
      near = std::min(near, lanes[2][i]);
      small = std::min(small, lanes[3][i]);
      all |= lanes[4][i];
    }
    const auto number = [&load](unsigned pattern) HWY_ATTR {
      const hn::CappedTag<float, 1> single;
      const std::uint16_t padded[8] = {static_cast<std::uint16_t>(pattern)};
      return static_cast<double>(hn::GetLane(load(single, padded)));
    };
    range.max = number(high >= 0 ? static_cast<std::uint16_t>(high) : near);
    range.min = number((low & 0x8000U) != 0 ? low : near);
    range.has_zero = (all & 0x8000U) != 0;
    // If all elements are 0 there is no smallest |x|. If it was not requested, the least positive number is a lower
    // bound.
    const bool none = least && small == 0xFFFF;
    range.smallest = none ? std::numeric_limits<double>::infinity() : number(least ? small + 1U : 1U);
  }
};

// `stream_floats` for 16-bit types.
template <bool least, bool magnitudes, bool grouped, class Load, class Widen>
HWY_INLINE void stream_halves(const std::byte* source, std::size_t n, const SumPlan& plan, BlockRange& range,
                              BlockSums& result, const Load& load, const Widen& widen) {
  HalfRange<least> extremes;
  extremes.start();
  ShortSums<magnitudes, grouped> sums;
  sums.start(plan.square_bias);
  const std::size_t lanes = hn::Lanes(hn::ScalableTag<std::uint16_t>());
  for (std::size_t i = 0; i < n; i += 2 * lanes) {
    const std::uint16_t* const from = typed<std::uint16_t>(source) + i;
    extremes.take(from);
    const auto squares0 = sums.take_four(from, widen);
    extremes.take(from + lanes);
    const auto squares1 = sums.take_four(from + lanes, widen);
    if constexpr (grouped) {
      // Each square is exact, in at most 22 bits; so is the sum of eight of similar magnitude.
      sums.square0.add(hn::Add(squares0, squares1));
    } else {
      (void)squares0;
      (void)squares1;
    }
  }
  extremes.finish(range, load);
  sums.finish(plan.square_bias, result);
  range.finite = std::isfinite(result.sum);
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace smd::detail::reduce
HWY_AFTER_NAMESPACE();

#endif
