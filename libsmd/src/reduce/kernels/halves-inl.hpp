// SPDX-License-Identifier: Apache-2.0
// 16-bit floats, streamed.
// Read once for every instruction set: Highway turns the guard over each time.
#if defined(SMD_REDUCE_KERNELS_HALVES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SMD_REDUCE_KERNELS_HALVES_INL
#undef SMD_REDUCE_KERNELS_HALVES_INL
#else
#define SMD_REDUCE_KERNELS_HALVES_INL
#endif

#include "reduce/kernels.hpp"
#include "reduce/kernels/sums-inl.hpp"

#include <hwy/highway.h>

#include <bit>
#include <cmath>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace smd::detail::reduce {  // NOLINT(modernize-concat-nested-namespaces): a macro follows
namespace HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
// The accumulators of `stream_halves`. Bits of 16-bit floats without the sign are in the order of what they stand for,
// so extremes need no conversion, and twice as many fit a vector.
template <bool magnitudes, bool grouped, class Widen>
struct HalfSums {
  using Bits = hn::ScalableTag<std::uint16_t>;
  using SignedBits = hn::RebindToSigned<Bits>;

  hn::Vec<SignedBits> highest;  // the greatest that is not negative
  hn::Vec<Bits> lowest;         // the most negative one
  hn::Vec<Bits> smallest;       // of |x| - 1: that of 0 is the greatest of all
  hn::Vec<Bits> sizes;          // all of these; only that of 0 has the highest bit
  Lane<false> sum0;
  Lane<false> sum1;
  Lane<false> magnitude0;
  Lane<false> magnitude1;
  Lane<true> square0;
  Lane<true> square1;

  HWY_INLINE void start(double square_bias) {
    highest = hn::Set(SignedBits(), std::numeric_limits<std::int16_t>::min());
    lowest = hn::Zero(Bits());
    smallest = hn::Set(Bits(), std::uint16_t{0xFFFF});
    sizes = hn::Zero(Bits());
    sum0.start(0);
    sum1.start(0);
    magnitude0.start(0);
    magnitude1.start(0);
    square0.start(square_bias);
    square1.start(square_bias);
  }

  // One vector. Gives the sum of its squares, if they are grouped.
  HWY_INLINE hn::Vec<Doubles> take(const std::uint16_t* from) {
    const Bits du;
    const auto bits = hn::LoadU(du, from);
    highest = hn::Max(highest, hn::BitCast(SignedBits(), bits));
    lowest = hn::Max(lowest, bits);
    const auto size = hn::Sub(hn::And(bits, hn::Set(du, std::uint16_t{0x7FFF})), hn::Set(du, std::uint16_t{1}));
    smallest = hn::Min(smallest, size);
    sizes = hn::Or(sizes, size);
    hn::Vec<Doubles> v0;
    hn::Vec<Doubles> v1;
    hn::Vec<Doubles> v2;
    hn::Vec<Doubles> v3;
    Widen()(from, v0, v1);
    Widen()(from + 2 * hn::Lanes(Doubles()), v2, v3);
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
      return hn::MulAdd(v3, v3, hn::MulAdd(v2, v2, hn::MulAdd(v1, v1, hn::Mul(v0, v0))));
    } else {
      square0.add_square(v0);
      square1.add_square(v1);
      square0.add_square(v2);
      square1.add_square(v3);
      return v0;
    }
  }

  template <class Load>
  HWY_INLINE void find_range(BlockRange& range, const Load& load) const {
    // Reductions of 16-bit lanes are not in every instruction set.
    HWY_ALIGN std::uint16_t lanes[4][64];
    hn::Store(hn::BitCast(Bits(), highest), Bits(), lanes[0]);
    hn::Store(lowest, Bits(), lanes[1]);
    hn::Store(smallest, Bits(), lanes[2]);
    hn::Store(sizes, Bits(), lanes[3]);
    auto high = static_cast<std::int16_t>(lanes[0][0]);
    std::uint16_t low = lanes[1][0];
    std::uint16_t small = lanes[2][0];
    unsigned all = lanes[3][0];
    for (std::size_t i = 1; i < hn::Lanes(Bits()); ++i) {
      high = std::max(high, static_cast<std::int16_t>(lanes[0][i]));
      low = std::max(low, lanes[1][i]);
      small = std::min(small, lanes[2][i]);
      all |= lanes[3][i];
    }
    const auto number = [&load](unsigned pattern) HWY_ATTR {
      const hn::CappedTag<float, 1> single;
      const std::uint16_t padded[8] = {static_cast<std::uint16_t>(pattern)};
      return static_cast<double>(hn::GetLane(load(single, padded)));
    };
    range.has_zero = (all & 0x8000U) != 0;
    range.smallest = small == 0xFFFF ? std::numeric_limits<double>::infinity() : number(small + 1U);
    const double least = range.has_zero ? 0 : range.smallest;
    range.max = high >= 0 ? number(static_cast<std::uint16_t>(high)) : -least;
    range.min = (low & 0x8000U) != 0 ? number(low) : least;
  }
};

// `stream_floats` of 16-bit types.
template <bool magnitudes, bool grouped, class Load, class Widen>
HWY_INLINE void stream_halves(const std::byte* source, std::size_t n, const SumPlan& plan, BlockRange& range,
                              BlockSums& result, const Load& load, const Widen& /*widen*/) {
  HalfSums<magnitudes, grouped, Widen> sums;
  sums.start(plan.square_bias);
  const std::size_t lanes = hn::Lanes(hn::ScalableTag<std::uint16_t>());
  for (std::size_t i = 0; i < n; i += 2 * lanes) {
    const std::uint16_t* const from = typed<std::uint16_t>(source) + i;
    const auto squares0 = sums.take(from);
    const auto squares1 = sums.take(from + lanes);
    if constexpr (grouped) {
      // Each square is exact, of at most 22 bits; eight of like size too.
      sums.square0.add(hn::Add(squares0, squares1));
    } else {
      (void)squares0;
      (void)squares1;
    }
  }
  sums.find_range(range, load);
  finish_pair(sums.sum0, sums.sum1, 0, result.sum, result.sum_low);
  if constexpr (magnitudes) {
    finish_pair(sums.magnitude0, sums.magnitude1, 0, result.magnitude, result.magnitude_low);
  }
  finish_pair(sums.square0, sums.square1, plan.square_bias, result.square, result.square_low);
  range.finite = std::isfinite(result.sum);
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace smd::detail::reduce
HWY_AFTER_NAMESPACE();

#endif
