// SPDX-License-Identifier: Apache-2.0
// 64-bit integers.
// Included once for every instruction set: Highway toggles the guard each time.
#if defined(SMD_REDUCE_KERNELS_INTEGERS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SMD_REDUCE_KERNELS_INTEGERS_INL
#undef SMD_REDUCE_KERNELS_INTEGERS_INL
#else
#define SMD_REDUCE_KERNELS_INTEGERS_INL
#endif

#include "reduce/kernels.hpp"
#include "reduce/kernels/load-inl.hpp"

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace smd::detail::reduce {  // NOLINT(modernize-concat-nested-namespaces): a macro follows
namespace HWY_NAMESPACE {

template <class T>
HWY_INLINE void extremes_of_integers(const std::byte* source, std::size_t n, IntegerRange& range) {
  const hn::ScalableTag<T> d;
  auto min = hn::Set(d, std::numeric_limits<T>::max());
  auto max = hn::Set(d, std::numeric_limits<T>::min());
  each<T>(source, n, hn::Lanes(d), [&](const T* from, std::size_t) HWY_ATTR {
    const auto v = hn::LoadU(d, from);
    min = hn::Min(min, v);
    max = hn::Max(max, v);
  });
  range.min = static_cast<std::uint64_t>(hn::GetLane(hn::MinOfLanes(d, min)));
  range.max = static_cast<std::uint64_t>(hn::GetLane(hn::MaxOfLanes(d, max)));
}

inline void integer_range(bool is_signed, const std::byte* source, std::size_t n, IntegerRange& range) {
  if (is_signed) {
    extremes_of_integers<std::int64_t>(source, n, range);
  } else {
    extremes_of_integers<std::uint64_t>(source, n, range);
  }
}

// |x| of the smallest integer is 2^63, which fits if the bits are read as unsigned.
template <class D, class V>
HWY_INLINE hn::Vec<D> magnitude_bits(D du, V v, bool take) {
  const hn::RebindToSigned<D> di;
  const auto as_signed = hn::BitCast(di, v);
  const auto sign = hn::BroadcastSignBit(as_signed);
  return take ? hn::BitCast(du, hn::Sub(hn::Xor(as_signed, sign), sign)) : v;
}

inline void integer_decode(bool is_signed, bool magnitude, const std::byte* source, std::size_t n, std::uint64_t base,
                           double* out) {
  const Doubles d;
  const hn::RebindToUnsigned<Doubles> du;
  const bool take = is_signed && magnitude;
  const auto from_base = hn::Set(du, base);
  // Puts each half into the fraction of a power of two, giving the doubles 2^84 + high * 2^32 and 2^52 + low. The
  // subtraction and additions that follow are exact except the last, which rounds once.
  const auto high_bits = hn::Set(du, std::uint64_t{0x4530000000000000});
  const auto low_bits = hn::Set(du, std::uint64_t{0x4330000000000000});
  const auto low_mask = hn::Set(du, std::uint64_t{0xFFFFFFFF});
  const auto both = hn::Set(d, 0x1p84 + 0x1p52);
  each<std::uint64_t>(source, n, hn::Lanes(d), [&](const std::uint64_t* from, std::size_t at) HWY_ATTR {
    const auto v = hn::Sub(magnitude_bits(du, hn::LoadU(du, from), take), from_base);
    const auto high = hn::BitCast(d, hn::Or(hn::ShiftRight<32>(v), high_bits));
    const auto low = hn::BitCast(d, hn::Or(hn::And(v, low_mask), low_bits));
    hn::StoreU(hn::Add(hn::Sub(high, both), low), d, out + at);
  });
  clear_padding(out, n);
}

inline void integer_sum(bool is_signed, bool magnitude, const std::byte* source, std::size_t n, std::uint64_t& low,
                        std::int64_t& high) {
  const hn::ScalableTag<std::uint64_t> du;
  const hn::RebindToSigned<decltype(du)> di;
  const bool take = is_signed && magnitude;
  const bool keep_sign = is_signed && !magnitude;
  const auto mask = hn::Set(du, std::uint64_t{0xFFFFFFFF});
  auto lows = hn::Zero(du);
  auto highs = hn::Zero(di);
  const std::size_t lanes = hn::Lanes(du);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto v = magnitude_bits(du, hn::LoadU(du, typed<std::uint64_t>(source) + i), take);
    lows = hn::Add(lows, hn::And(v, mask));
    const auto shifted = hn::ShiftRight<32>(v);
    // For a signed number the upper half of the high word is its sign.
    const auto sign = hn::AndNot(mask, hn::BitCast(du, hn::BroadcastSignBit(hn::BitCast(di, v))));
    highs = hn::Add(highs, hn::BitCast(di, keep_sign ? hn::Or(shifted, sign) : shifted));
  }
  low = hn::GetLane(hn::SumOfLanes(du, lows));
  high = hn::GetLane(hn::SumOfLanes(di, highs));
  for (; i < n; ++i) {
    std::uint64_t bits;
    std::memcpy(&bits, source + i * sizeof bits, sizeof bits);
    const bool negative = is_signed && (bits >> 63) != 0;
    if (negative && magnitude) {
      bits = ~bits + 1;
    }
    low += bits & 0xFFFFFFFF;
    high += negative && !magnitude ? static_cast<std::int64_t>(bits) >> 32 : static_cast<std::int64_t>(bits >> 32);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace smd::detail::reduce
HWY_AFTER_NAMESPACE();

#endif
