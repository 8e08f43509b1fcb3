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
// vector holds twice as many.
struct HalfRange {
  using Bits = hn::ScalableTag<std::uint16_t>;
  using SignedBits = hn::RebindToSigned<Bits>;

  hn::Vec<SignedBits> highest;   // the greatest that is not negative, or the negative one farthest from 0
  hn::Vec<SignedBits> negative;  // the negative one nearest to 0, if there is one
  hn::Vec<Bits> lowest;          // the most negative, or else the greatest
  hn::Vec<Bits> nearest;         // the one nearest to 0 that is not negative, or else the negative one

  HWY_INLINE void start() {
    highest = hn::Set(SignedBits(), std::numeric_limits<std::int16_t>::min());
    negative = hn::Set(SignedBits(), std::numeric_limits<std::int16_t>::max());
    lowest = hn::Zero(Bits());
    nearest = hn::Set(Bits(), std::uint16_t{0xFFFF});
  }

  HWY_INLINE void take(hn::Vec<Bits> bits) {
    const auto as_signed = hn::BitCast(SignedBits(), bits);
    highest = hn::Max(highest, as_signed);
    negative = hn::Min(negative, as_signed);
    lowest = hn::Max(lowest, bits);
    nearest = hn::Min(nearest, bits);
  }

  // `exact`: finds the smallest |x| even if there are zeros, which takes another pass.
  template <class Load>
  HWY_INLINE void finish(BlockRange& range, const std::uint16_t* from, std::size_t n, bool exact,
                         const Load& load) const {
    const auto high = largest_lane(SignedBits(), highest);
    const auto low = largest_lane(Bits(), lowest);
    const auto near = smallest_lane(Bits(), nearest);
    const auto below = smallest_lane(SignedBits(), negative);
    const auto number = [&load](unsigned pattern) HWY_ATTR {
      const hn::CappedTag<float, 1> single;
      const std::uint16_t padded[8] = {static_cast<std::uint16_t>(pattern)};
      return static_cast<double>(hn::GetLane(load(single, padded)));
    };
    range.max = number(high >= 0 ? static_cast<std::uint16_t>(high) : near);
    range.min = number((low & 0x8000U) != 0 ? low : near);
    unsigned small = below < 0 ? below & 0x7FFFU : near;
    if ((near & 0x8000U) == 0) {
      small = std::min<unsigned>(small, near);
    }
    range.has_zero = small == 0;
    // Without a search the least positive number is a lower bound.
    if (small == 0) {
      small = exact ? smallest_not_zero(from, n) : 1;
    }
    range.smallest = small == 0 ? std::numeric_limits<double>::infinity() : number(small);
  }

 private:
  // Bits of the smallest |x| other than 0, or 0.
  HWY_NOINLINE static unsigned smallest_not_zero(const std::uint16_t* from, std::size_t n) {
    const Bits d;
    auto smallest = hn::Set(d, std::uint16_t{0xFFFF});
    for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
      const auto size = hn::And(hn::LoadU(d, from + i), hn::Set(d, std::uint16_t{0x7FFF}));
      smallest = hn::Min(smallest, hn::Sub(size, hn::Set(d, std::uint16_t{1})));  // 0 wraps to the greatest value
    }
    return (smallest_lane(d, smallest) + 1U) & 0xFFFFU;
  }
  // One by one, because not every instruction set reduces 16-bit lanes.
  template <class D>
  HWY_INLINE static hn::TFromD<D> smallest_lane(D d, hn::Vec<D> v) {
    HWY_ALIGN hn::TFromD<D> lanes[64];
    hn::Store(v, d, lanes);
    return *std::min_element(lanes, lanes + hn::Lanes(d));
  }
  template <class D>
  HWY_INLINE static hn::TFromD<D> largest_lane(D d, hn::Vec<D> v) {
    HWY_ALIGN hn::TFromD<D> lanes[64];
    hn::Store(v, d, lanes);
    return *std::max_element(lanes, lanes + hn::Lanes(d));
  }
};

// Converts a vector of 16-bit floats to two of floats, in any order.
struct UnpackBfloats {
  static constexpr bool finds_smallest = true;
  HWY_INLINE void operator()(hn::Vec<HalfRange::Bits> bits, const std::uint16_t*, float* out) const {
    const hn::ScalableTag<float> d;
    const hn::RebindToUnsigned<decltype(d)> wide;
    const auto pairs = hn::BitCast(wide, bits);
    hn::Store(hn::BitCast(d, hn::ShiftLeft<16>(pairs)), d, out);
    hn::Store(hn::BitCast(d, hn::And(pairs, hn::Set(wide, std::uint32_t{0xFFFF0000}))), d, out + hn::Lanes(d));
  }
};
struct UnpackHalves {
  // All are multiples of 2^-24, so the sums are nearly always known to be exact without the smallest |x|.
  static constexpr bool finds_smallest = false;
#if SMD_REDUCE_CONVERTS_HALVES
  HWY_INLINE void operator()(hn::Vec<HalfRange::Bits>, const std::uint16_t* from, float* out) const {
    const hn::ScalableTag<float> d;
    hn::Store(LoadHalf()(d, from), d, out);
    hn::Store(LoadHalf()(d, from + hn::Lanes(d)), d, out + hn::Lanes(d));
  }
#else
  // As LoadHalf, except that infinities and NaN become numbers.
  HWY_INLINE void operator()(hn::Vec<HalfRange::Bits> bits, const std::uint16_t*, float* out) const {
    const hn::ScalableTag<float> d;
    const auto zero = hn::Zero(HalfRange::Bits());
    hn::Store(number(hn::InterleaveLower(HalfRange::Bits(), zero, bits)), d, out);
    hn::Store(number(hn::InterleaveUpper(HalfRange::Bits(), zero, bits)), d, out + hn::Lanes(d));
  }

 private:
  // From the bits above 16 zeros. The sign is shifted with the rest and then left in one place only.
  HWY_INLINE static hn::Vec<hn::ScalableTag<float> > number(hn::Vec<HalfRange::Bits> pairs) {
    const hn::ScalableTag<float> d;
    const hn::RebindToSigned<decltype(d)> wide;
    const auto moved = hn::ShiftRight<3>(hn::BitCast(wide, pairs));
    const auto kept =
        hn::And(hn::BitCast(d, moved), hn::BitCast(d, hn::Set(hn::RebindToUnsigned<decltype(d)>(), 0x8FFFE000U)));
    return hn::Mul(kept, hn::Set(d, 0x1p112F));
  }
#endif
};

// `stream_floats` for 16-bit types. Floats that wait in the first-level cache cost less than vectors of doubles whose
// halves must be moved, and leave the registers to the sums.
template <bool magnitudes, bool grouped, class Load, class Unpack>
HWY_INLINE void stream_halves(const std::byte* source, std::size_t n, const SumPlan& plan, BlockRange& range,
                              BlockSums& result, const Load& load, const Unpack& unpack) {
  const HalfRange::Bits d;
  HalfRange extremes;
  extremes.start();
  // Each square is exact, in at most 22 bits; so is the sum of eight of similar magnitude.
  ShortSums<magnitudes, grouped ? 8 : 1> sums;
  sums.start(plan.square_bias);
  HWY_ALIGN float floats[looked_at_twice];
  for (std::size_t i = 0; i < n; i += looked_at_twice) {
    const std::uint16_t* const from = typed<std::uint16_t>(source) + i;
    const std::size_t part = std::min(looked_at_twice, n - i);
    for (std::size_t k = 0; k < part; k += hn::Lanes(d)) {
      const auto bits = hn::LoadU(d, from + k);
      extremes.take(bits);
      unpack(bits, from + k, floats + k);
    }
    sums.template take<sizeof(std::uint16_t)>(floats, part, WidenFloats(), from + part);
  }
  extremes.finish(range, typed<std::uint16_t>(source), n, Unpack::finds_smallest || plan.zeros, load);
  sums.finish(plan.square_bias, result);
  // Infinities and NaN have the greatest magnitudes.
  range.finite = std::isfinite(range.min) && std::isfinite(range.max);
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace smd::detail::reduce
HWY_AFTER_NAMESPACE();

#endif
