// SPDX-License-Identifier: Apache-2.0
#include "reduce/kernels.hpp"

#include "base/cpu_features.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

// The baseline, SSE4, AVX2 and AVX-512 differ enough to matter; the steps between them do not.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reduce/kernels.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace smd::detail::reduce {  // NOLINT(modernize-concat-nested-namespaces): a macro follows
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::ScalableTag<double>;
constexpr bool fused_multiply = HWY_NATIVE_FMA != 0;

template <class T>
HWY_INLINE const T* typed(const std::byte* bytes) {
  // Only ever handed to unaligned vector loads.
  return reinterpret_cast<const T*>(bytes);
}

// Calls step(source, out) for every whole step of `width` elements; the rest, filled up with its last element, goes
// through a copy. Extremes do not change by repetition, and `out` has padding.
template <class T, class Step>
HWY_INLINE void each(const std::byte* source, std::size_t n, std::size_t width, const Step& step) {
  std::size_t i = 0;
  for (; i + width <= n; i += width) {
    step(typed<T>(source) + i, i);
  }
  if (i < n) {
    HWY_ALIGN T rest[block_padding];
    std::memcpy(rest, source + i * sizeof(T), (n - i) * sizeof(T));
    for (std::size_t k = n - i; k < width; ++k) {
      rest[k] = rest[k - 1];
    }
    step(rest, i);
  }
}

HWY_INLINE void clear_padding(double* out, std::size_t n) {
  const Doubles d;
  const auto zero = hn::Zero(d);
  for (std::size_t i = n; i < n + block_padding / 2; i += hn::Lanes(d)) {
    hn::StoreU(zero, d, out + i);
  }
}

template <class D, class V>
HWY_INLINE double smallest_of(D d, V v) {
  return static_cast<double>(hn::GetLane(hn::MinOfLanes(d, v)));
}
template <class D, class V>
HWY_INLINE double largest_of(D d, V v) {
  return static_cast<double>(hn::GetLane(hn::MaxOfLanes(d, v)));
}

// Single precision, or half precision widened to it: `load` gives a full vector of floats.
template <class T, class Load>
HWY_INLINE void decode_floats(const std::byte* source, std::size_t n, double* out, BlockRange& range,
                              const Load& load) {
  const hn::ScalableTag<float> df;
  const hn::RebindToUnsigned<decltype(df)> du;
  const Doubles d;
  const std::size_t lanes = hn::Lanes(df);
  const float infinity = std::numeric_limits<float>::infinity();
  auto min = hn::Set(df, infinity);
  auto max = hn::Set(df, -infinity);
  auto smallest = hn::Set(du, ~std::uint32_t{0});
  auto taint = hn::Zero(df);
  const auto one = hn::Set(du, std::uint32_t{1});
  each<T>(source, n, lanes, [&](const T* from, std::size_t at) HWY_ATTR {
    const auto v = load(df, from);
    min = hn::Min(min, v);
    max = hn::Max(max, v);
    // As integers |x| - 1 wraps for 0, so that the least is the least that is not 0.
    smallest = hn::Min(smallest, hn::Sub(hn::BitCast(du, hn::Abs(v)), one));
    taint = hn::MulAdd(v, hn::Zero(df), taint);
#if HWY_TARGET == HWY_SCALAR
    hn::StoreU(hn::PromoteTo(d, v), d, out + at);
#else
    const hn::Half<hn::ScalableTag<float>> dh;
    hn::StoreU(hn::PromoteTo(d, hn::LowerHalf(dh, v)), d, out + at);
    hn::StoreU(hn::PromoteTo(d, hn::UpperHalf(dh, v)), d, out + at + lanes / 2);
#endif
  });
  clear_padding(out, n);
  range.min = smallest_of(df, min);
  range.max = largest_of(df, max);
  const std::uint32_t bits = hn::GetLane(hn::MinOfLanes(du, smallest)) + 1U;
  range.smallest = bits == 0 ? std::numeric_limits<double>::infinity() : std::bit_cast<float>(bits);
  range.finite = hn::GetLane(hn::SumOfLanes(df, taint)) == 0;
}

struct LoadFloat {
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, const float* from) const {
    return hn::LoadU(d, from);
  }
};
struct LoadHalf {
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, const std::uint16_t* from) const {
    const hn::Rebind<std::uint16_t, D> du;
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128 || HWY_TARGET == HWY_SSSE3 || HWY_TARGET == HWY_SSE4
    // There Highway's own conversion takes infinities and NaN for large numbers. Fraction and exponent, moved to their
    // places, need only a factor that mends the bias; the highest exponent stands for infinity and NaN.
    const hn::RebindToUnsigned<D> wide;
    const auto bits = hn::PromoteTo(wide, hn::LoadU(du, from));
    const auto top = hn::Set(wide, std::uint32_t{0x7C00});
    const auto special = hn::IfThenElseZero(hn::Eq(hn::And(bits, top), top), hn::Set(wide, std::uint32_t{0x7F800000}));
    const auto magnitude = hn::ShiftLeft<13>(hn::And(bits, hn::Set(wide, std::uint32_t{0x7FFF})));
    const auto sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(wide, std::uint32_t{0x8000})));
    const auto number = hn::Mul(hn::BitCast(d, magnitude), hn::Set(d, 0x1p112F));
    return hn::BitCast(d, hn::Or(hn::Or(hn::BitCast(wide, number), special), sign));
#else
    const hn::Rebind<hwy::float16_t, D> dh;
    return hn::PromoteTo(d, hn::BitCast(dh, hn::LoadU(du, from)));
#endif
  }
};
struct LoadBfloat {
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, const std::uint16_t* from) const {
    const hn::Rebind<std::uint16_t, D> du;
    const hn::RebindToUnsigned<D> wide;
    return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(wide, hn::LoadU(du, from))));
  }
};

BlockRange range_of(const double* values, std::size_t n) {
  const Doubles d;
  const double infinity = std::numeric_limits<double>::infinity();
  auto min = hn::Set(d, infinity);
  auto max = hn::Set(d, -infinity);
  auto smallest = hn::Set(d, infinity);
  auto taint = hn::Zero(d);
  const auto step = [&](const double* from, std::size_t) HWY_ATTR {
    const auto v = hn::LoadU(d, from);
    min = hn::Min(min, v);
    max = hn::Max(max, v);
    const auto magnitude = hn::Abs(v);
    smallest = hn::Min(smallest, hn::IfThenElse(hn::Eq(magnitude, hn::Zero(d)), hn::Set(d, infinity), magnitude));
    taint = hn::MulAdd(v, hn::Zero(d), taint);
  };
  each<double>(reinterpret_cast<const std::byte*>(values), n, hn::Lanes(d), step);
  BlockRange range;
  range.min = smallest_of(d, min);
  range.max = largest_of(d, max);
  range.smallest = smallest_of(d, smallest);
  range.finite = hn::GetLane(hn::SumOfLanes(d, taint)) == 0;
  return range;
}

// Integers of at most 32 bits.
template <class T>
HWY_INLINE void decode_integers(const std::byte* source, std::size_t n, double* out, BlockRange& range) {
  const Doubles d;
  const hn::Rebind<std::int32_t, Doubles> dw;
  const hn::Rebind<T, Doubles> dt;
  const std::size_t lanes = hn::Lanes(d);
  auto min = hn::Set(d, std::numeric_limits<double>::infinity());
  auto max = hn::Set(d, -std::numeric_limits<double>::infinity());
  each<T>(source, n, lanes, [&](const T* from, std::size_t at) HWY_ATTR {
    hn::Vec<Doubles> v;
    if constexpr (sizeof(T) < 4) {
      v = hn::PromoteTo(d, hn::PromoteTo(dw, hn::LoadU(dt, from)));
    } else if constexpr (std::is_signed_v<T>) {
      v = hn::PromoteTo(d, hn::LoadU(dt, from));
    } else {
      // 2^32 has to be added back where the sign bit was set.
      const auto flipped = hn::Xor(hn::LoadU(dt, from), hn::Set(dt, std::uint32_t{1} << 31));
      v = hn::Add(hn::PromoteTo(d, hn::BitCast(dw, flipped)), hn::Set(d, 2147483648.0));
    }
    min = hn::Min(min, v);
    max = hn::Max(max, v);
    hn::StoreU(v, d, out + at);
  });
  clear_padding(out, n);
  range = {smallest_of(d, min), largest_of(d, max), 1, true};
}

void decode(Dtype type, const std::byte* source, std::size_t n, double* out, BlockRange& range) {
  switch (type) {
    case Dtype::float32:
      return decode_floats<float>(source, n, out, range, LoadFloat());
    case Dtype::float16:
      return decode_floats<std::uint16_t>(source, n, out, range, LoadHalf());
    case Dtype::bfloat16:
      return decode_floats<std::uint16_t>(source, n, out, range, LoadBfloat());
    case Dtype::int8:
      return decode_integers<std::int8_t>(source, n, out, range);
    case Dtype::uint8:
      return decode_integers<std::uint8_t>(source, n, out, range);
    case Dtype::int16:
      return decode_integers<std::int16_t>(source, n, out, range);
    case Dtype::uint16:
      return decode_integers<std::uint16_t>(source, n, out, range);
    case Dtype::int32:
      return decode_integers<std::int32_t>(source, n, out, range);
    case Dtype::uint32:
      return decode_integers<std::uint32_t>(source, n, out, range);
    case Dtype::boolean: {
      // Any byte that is not 0 is true.
      HWY_ALIGN std::uint8_t truth[block_size];
      for (std::size_t i = 0; i < n; ++i) {
        truth[i] = source[i] != std::byte{0} ? 1 : 0;
      }
      return decode_integers<std::uint8_t>(reinterpret_cast<const std::byte*>(truth), n, out, range);
    }
    default:
      std::memcpy(out, source, n * sizeof(double));
      clear_padding(out, n);
      range = range_of(out, n);
  }
}

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

void integer_range(bool is_signed, const std::byte* source, std::size_t n, IntegerRange& range) {
  if (is_signed) {
    extremes_of_integers<std::int64_t>(source, n, range);
  } else {
    extremes_of_integers<std::uint64_t>(source, n, range);
  }
}

// |x| of the smallest integer is 2^63, which fits once the bits are read as unsigned.
template <class D, class V>
HWY_INLINE hn::Vec<D> magnitude_bits(D du, V v, bool take) {
  const hn::RebindToSigned<D> di;
  const auto as_signed = hn::BitCast(di, v);
  const auto sign = hn::BroadcastSignBit(as_signed);
  return take ? hn::BitCast(du, hn::Sub(hn::Xor(as_signed, sign), sign)) : v;
}

void integer_decode(bool is_signed, bool magnitude, const std::byte* source, std::size_t n, std::uint64_t base,
                    double* out) {
  const Doubles d;
  const hn::RebindToUnsigned<Doubles> du;
  const bool take = is_signed && magnitude;
  const auto from_base = hn::Set(du, base);
  // Halves, each laid into the fraction of a power of two, as doubles: 2^84 + high * 2^32, and 2^52 + low. What is
  // subtracted and added then is exact up to the last, which rounds once.
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

void integer_sum(bool is_signed, bool magnitude, const std::byte* source, std::size_t n, std::uint64_t& low,
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

void sums(const double* values, std::size_t n, const SumPlan& plan, BlockSums& result) {
  if (plan.sum_bias != 0) {
    sums_chosen<true>(values, n, plan, result);
  } else {
    sums_chosen<false>(values, n, plan, result);
  }
}

// The two halves of a vector of floats as doubles. Floats in memory are loaded anew: that is cheaper than to move
// lanes.
template <class T, class V>
HWY_INLINE void widen(const T* from, V v, hn::Vec<Doubles>& v0, hn::Vec<Doubles>& v1) {
  const Doubles d;
#if HWY_TARGET == HWY_SCALAR
  (void)from;
  v0 = hn::PromoteTo(d, v);
  v1 = hn::Zero(d);
#else
  const hn::Half<hn::ScalableTag<float>> dh;
  if constexpr (std::is_same_v<T, float>) {
    (void)v;
    v0 = hn::PromoteTo(d, hn::LoadU(dh, from));
    v1 = hn::PromoteTo(d, hn::LoadU(dh, from + hn::Lanes(dh)));
  } else {
    (void)from;
    v0 = hn::PromoteTo(d, hn::LowerHalf(dh, v));
    v1 = hn::PromoteTo(d, hn::UpperHalf(dh, v));
  }
#endif
}

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

struct LoadDouble {
  HWY_INLINE hn::Vec<Doubles> operator()(Doubles d, const double* from) const { return hn::LoadU(d, from); }
};
// Exact up to 2^53.
struct LoadWide {
  HWY_INLINE hn::Vec<Doubles> operator()(Doubles d, const std::int64_t* from) const {
    return hn::ConvertTo(d, hn::LoadU(hn::RebindToSigned<Doubles>(), from));
  }
};

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

#if HWY_TARGET != HWY_SCALAR
// As many 16-bit floats as two vectors of doubles hold, as those, in any order. Loaded in parts: to move the upper half
// of a vector down costs more.
struct WidenBfloats {
  HWY_INLINE void operator()(const std::uint16_t* from, hn::Vec<Doubles>& a, hn::Vec<Doubles>& b) const {
    const Doubles d;
    const hn::Rebind<float, Doubles> df;
    const hn::RebindToUnsigned<decltype(df)> wide;
    const auto pairs = hn::BitCast(wide, hn::LoadU(hn::Repartition<std::uint16_t, decltype(wide)>(), from));
    a = hn::PromoteTo(d, hn::BitCast(df, hn::ShiftLeft<16>(pairs)));
    b = hn::PromoteTo(d, hn::BitCast(df, hn::And(pairs, hn::Set(wide, std::uint32_t{0xFFFF0000}))));
  }
};
struct WidenHalves {
  HWY_INLINE void operator()(const std::uint16_t* from, hn::Vec<Doubles>& a, hn::Vec<Doubles>& b) const {
    const Doubles d;
    const hn::Rebind<float, Doubles> df;
    a = hn::PromoteTo(d, LoadHalf()(df, from));
    b = hn::PromoteTo(d, LoadHalf()(df, from + hn::Lanes(df)));
  }
};

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
  finish(sums.sum0, sums.sum1, 0, result.sum, result.sum_low);
  if constexpr (magnitudes) {
    finish(sums.magnitude0, sums.magnitude1, 0, result.magnitude, result.magnitude_low);
  }
  finish(sums.square0, sums.square1, plan.square_bias, result.square, result.square_low);
  range.finite = std::isfinite(result.sum);
}
#endif

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

void stream(Dtype type, const std::byte* source, std::size_t n, const SumPlan& plan, BlockRange& range,
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

template <class T>
HWY_INLINE void stream_bytes_as(bool truth, const std::byte* source, std::size_t n, ByteSums& result) {
  const hn::ScalableTag<std::int16_t> d;
  const hn::ScalableTag<std::int32_t> wide;
  const hn::Rebind<T, decltype(d)> narrow;
  const auto one = hn::Set(d, std::int16_t{1});
  auto min = hn::Set(d, std::int16_t{32767});
  auto max = hn::Set(d, std::int16_t{-32768});
  // Two accumulators each: products of neighbours, or of odd and even lanes, as the machine likes.
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
  // One by one: not every instruction set reduces 16-bit lanes.
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

void stream_bytes(bool is_signed, bool truth, const std::byte* source, std::size_t n, ByteSums& result) {
  if (is_signed) {
    stream_bytes_as<std::int8_t>(false, source, n, result);
  } else {
    stream_bytes_as<std::uint8_t>(truth, source, n, result);
  }
}

void shift(const double* values, std::size_t n, bool magnitude, double by, double* out) {
  const Doubles d;
  const auto offset = hn::Set(d, by);
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
    const auto v = hn::LoadU(d, values + i);
    hn::StoreU(hn::Sub(magnitude ? hn::Abs(v) : v, offset), d, out + i);
  }
  clear_padding(out, n);
}

double smallest_magnitude(const double* values, std::size_t n) {
  const Doubles d;
  auto smallest = hn::Set(d, std::numeric_limits<double>::infinity());
  each<double>(reinterpret_cast<const std::byte*>(values), n, hn::Lanes(d),
               [&](const double* from, std::size_t)
                   HWY_ATTR { smallest = hn::Min(smallest, hn::Abs(hn::LoadU(d, from))); });
  return smallest_of(d, smallest);
}

void count_zero_negative(const double* values, std::size_t n, std::uint64_t& zero, std::uint64_t& negative) {
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t zeros = 0;
  std::size_t negatives = 0;
  // The padding is zeros.
  for (std::size_t i = 0; i < n; i += lanes) {
    const auto v = hn::LoadU(d, values + i);
    zeros += hn::CountTrue(d, hn::Eq(v, hn::Zero(d)));
    negatives += hn::CountTrue(d, hn::Lt(v, hn::Zero(d)));
  }
  zero += zeros - (n % lanes == 0 ? 0 : lanes - n % lanes);
  negative += negatives;
}

// a * b without error is product + error.
HWY_INLINE void two_product(hn::Vec<Doubles> a, hn::Vec<Doubles> b, hn::Vec<Doubles>& product,
                            hn::Vec<Doubles>& error) {
  product = hn::Mul(a, b);
  if constexpr (fused_multiply) {
    error = hn::MulSub(a, b, product);
  } else {
    // Veltkamp and Dekker: halves of 26 bits, whose products are exact.
    const auto splitter = hn::Set(Doubles(), 134217729.0);
    const auto scaled_a = hn::Mul(a, splitter);
    const auto high_a = hn::Sub(scaled_a, hn::Sub(scaled_a, a));
    const auto low_a = hn::Sub(a, high_a);
    const auto scaled_b = hn::Mul(b, splitter);
    const auto high_b = hn::Sub(scaled_b, hn::Sub(scaled_b, b));
    const auto low_b = hn::Sub(b, high_b);
    error = hn::Sub(hn::Mul(high_a, high_b), product);
    error = hn::Add(error, hn::Mul(high_a, low_b));
    error = hn::Add(error, hn::Mul(low_a, high_b));
    error = hn::Add(error, hn::Mul(low_a, low_b));
  }
}

// The product of what `times` is given, in two chains for each lane.
struct Chains {
  hn::Vec<Doubles> main[2];
  hn::Vec<Doubles> rest[2];
  hn::Vec<hn::RebindToSigned<Doubles>> exponents;

  HWY_INLINE void start() {
    main[0] = main[1] = hn::Set(Doubles(), 1.0);
    rest[0] = rest[1] = hn::Zero(Doubles());
    exponents = hn::Zero(hn::RebindToSigned<Doubles>());
  }
  HWY_INLINE void normalise(int k) {
    const Doubles d;
    const hn::RebindToSigned<Doubles> di;
    const auto bias = hn::Set(di, std::int64_t{1023});
    const auto mask = hn::Set(di, std::int64_t{0x7FF});
    const auto power = hn::Sub(hn::And(hn::ShiftRight<52>(hn::BitCast(di, main[k])), mask), bias);
    exponents = hn::Add(exponents, power);
    const auto back = hn::BitCast(d, hn::ShiftLeft<52>(hn::Sub(bias, power)));
    main[k] = hn::Mul(main[k], back);
    rest[k] = hn::Mul(rest[k], back);
  }
  HWY_INLINE void times(int k, hn::Vec<Doubles> v) {
    hn::Vec<Doubles> next;
    hn::Vec<Doubles> error;
    two_product(main[k], v, next, error);
    rest[k] = hn::MulAdd(rest[k], v, error);
    main[k] = next;
  }
  HWY_INLINE void finish(double& high, double& low, std::int64_t& exponent) {
    const Doubles d;
    normalise(0);
    normalise(1);
    HWY_ALIGN double parts[2][2][64];
    HWY_ALIGN std::int64_t powers[64];
    for (int k = 0; k < 2; ++k) {
      hn::Store(main[k], d, parts[k][0]);
      hn::Store(rest[k], d, parts[k][1]);
    }
    hn::Store(exponents, hn::RebindToSigned<Doubles>(), powers);
    high = 1;
    low = 0;
    exponent = 0;
    for (std::size_t lane = 0; lane < hn::Lanes(d); ++lane) {
      exponent += powers[lane];
      for (int k = 0; k < 2; ++k) {
        const double factor = parts[k][0][lane];
        const double next = high * factor;
        const double error = std::fma(high, factor, -next);
        low = low * factor + high * parts[k][1][lane] + error;
        high = next;
      }
    }
  }
};

void product(const double* values, std::size_t n, std::size_t group, double& high, double& low,
             std::int64_t& exponent) {
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d);
  Chains chains;
  chains.start();
  std::size_t i = 0;
  std::size_t until = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    chains.times(0, hn::LoadU(d, values + i));
    chains.times(1, hn::LoadU(d, values + i + lanes));
    if (++until == group) {
      chains.normalise(0);
      chains.normalise(1);
      until = 0;
    }
  }
  for (; i < n; i += lanes) {
    chains.normalise(0);
    auto v = hn::LoadU(d, values + i);
    if (n - i < lanes) {
      v = hn::IfThenElse(hn::FirstN(d, n - i), v, hn::Set(d, 1.0));
    }
    chains.times(0, v);
  }
  chains.finish(high, low, exponent);
}

// The product of two shorter numbers is exact in double.
template <class T, class Load>
HWY_INLINE void stream_product_of(const std::byte* source, std::size_t n, std::size_t group, double& high, double& low,
                                  std::int64_t& exponent, const Load& load) {
  const hn::ScalableTag<float> df;
  const std::size_t lanes = hn::Lanes(df);
  Chains chains;
  chains.start();
  std::size_t until = 0;
  for (std::size_t i = 0; i < n; i += 2 * lanes) {
    const T* const from = typed<T>(source) + i;
    hn::Vec<Doubles> v0;
    hn::Vec<Doubles> v1;
    hn::Vec<Doubles> v2;
    hn::Vec<Doubles> v3;
    widen(from, load(df, from), v0, v1);
    widen(from + lanes, load(df, from + lanes), v2, v3);
#if HWY_TARGET == HWY_SCALAR
    chains.times(0, v0);
    chains.times(1, v2);
#else
    chains.times(0, hn::Mul(v0, v2));
    chains.times(1, hn::Mul(v1, v3));
#endif
    if (++until == group) {
      chains.normalise(0);
      chains.normalise(1);
      until = 0;
    }
  }
  chains.finish(high, low, exponent);
}

void stream_product(Dtype type, const std::byte* source, std::size_t n, std::size_t group, double& high, double& low,
                    std::int64_t& exponent) {
  switch (type) {
    case Dtype::float32:
      return stream_product_of<float>(source, n, group, high, low, exponent, LoadFloat());
    case Dtype::float16:
      return stream_product_of<std::uint16_t>(source, n, group, high, low, exponent, LoadHalf());
    case Dtype::bfloat16:
      return stream_product_of<std::uint16_t>(source, n, group, high, low, exponent, LoadBfloat());
    default:
      return product(typed<double>(source), n, group, high, low, exponent);
  }
}

template <class T, class D, class Load>
HWY_INLINE void stream_signs_of(D d, const std::byte* source, std::size_t n, std::uint64_t& zero,
                                std::uint64_t& negative, const Load& load) {
  std::size_t zeros = 0;
  std::size_t negatives = 0;
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
    const auto v = load(d, typed<T>(source) + i);
    zeros += hn::CountTrue(d, hn::Eq(v, hn::Zero(d)));
    negatives += hn::CountTrue(d, hn::Lt(v, hn::Zero(d)));
  }
  zero += zeros;
  negative += negatives;
}

void stream_signs(Dtype type, const std::byte* source, std::size_t n, std::uint64_t& zero, std::uint64_t& negative) {
  const hn::ScalableTag<float> df;
  switch (type) {
    case Dtype::float32:
      return stream_signs_of<float>(df, source, n, zero, negative, LoadFloat());
    case Dtype::float16:
      return stream_signs_of<std::uint16_t>(df, source, n, zero, negative, LoadHalf());
    case Dtype::bfloat16:
      return stream_signs_of<std::uint16_t>(df, source, n, zero, negative, LoadBfloat());
    default:
      return stream_signs_of<double>(Doubles(), source, n, zero, negative, LoadDouble());
  }
}

// Row m: the places of the bits of m, in order.
struct Places {
  std::uint8_t of[256][8] = {};
  constexpr Places() {
    for (unsigned mask = 0; mask < 256; ++mask) {
      unsigned next = 0;
      for (unsigned bit = 0; bit < 8; ++bit) {
        if ((mask >> bit & 1U) != 0) {
          of[mask][next++] = static_cast<std::uint8_t>(bit);
        }
      }
    }
  }
};
constexpr Places places;

// Highway's own Compress copies its table to the stack at every call when GCC 12 compiles it, but for the case that has
// an instruction.
template <class D>
HWY_INLINE hn::Vec<D> compress(D d, hn::Vec<D> v, hn::Mask<D> mask) {
#if HWY_TARGET == HWY_SCALAR
  (void)d;
  (void)mask;
  return v;
#else
  if constexpr (HWY_TARGET == HWY_AVX3 && sizeof(hn::TFromD<D>) == 4) {
    return hn::Compress(v, mask);
  } else {
    std::uint8_t bits[8] = {};
    hn::StoreMaskBits(d, mask, bits);
    const hn::Rebind<std::uint8_t, D> bytes;
    const hn::Rebind<std::int32_t, D> words;
    const hn::RebindToSigned<D> lanes;
    const auto at = hn::PromoteTo(words, hn::LoadU(bytes, places.of[bits[0]]));
    if constexpr (sizeof(hn::TFromD<D>) == 8) {
      return hn::TableLookupLanes(v, hn::IndicesFromVec(d, hn::PromoteTo(lanes, at)));
    } else {
      return hn::TableLookupLanes(v, hn::IndicesFromVec(d, at));
    }
  }
#endif
}

template <bool magnitude, class T>
HWY_INLINE std::size_t between_of(const std::byte* source, std::size_t n, T from, T to, T* out, std::size_t& found) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto lower = hn::Set(d, from);
  const auto upper = hn::Set(d, to);
  // Masks are slow to bring to general registers, so what lies below is counted in lanes.
  const hn::RebindToUnsigned<decltype(d)> du;
  const auto one = hn::Set(du, 1);
  auto unders = hn::Zero(du);
  std::size_t count = 0;
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    auto v = hn::LoadU(d, typed<T>(source) + i);
    if constexpr (magnitude) {
      v = hn::Abs(v);
    }
    const auto under = hn::Lt(v, lower);
    const auto inside = hn::AndNot(under, hn::Le(v, upper));
    unders = hn::IfThenElse(hn::RebindMask(du, under), hn::Add(unders, one), unders);
    const std::size_t more = hn::CountTrue(d, inside);
    hn::StoreU(compress(d, v, inside), d, out + count);
    count += more;
  }
  HWY_ALIGN hn::TFromD<decltype(du)> counts[64];
  hn::Store(unders, du, counts);
  std::size_t below = 0;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    below += static_cast<std::size_t>(counts[lane]);
  }
  for (; i < n; ++i) {
    T v;
    std::memcpy(&v, source + i * sizeof(T), sizeof(T));
    v = magnitude ? std::fabs(v) : v;
    if (v < from) {
      ++below;
    } else if (v <= to) {
      out[count++] = v;
    }
  }
  found = count;
  return below;
}

std::size_t between_float(const std::byte* source, std::size_t n, bool magnitude, float from, float to, float* out,
                          std::size_t& found) {
  return magnitude ? between_of<true>(source, n, from, to, out, found)
                   : between_of<false>(source, n, from, to, out, found);
}

std::size_t between_double(const std::byte* source, std::size_t n, bool magnitude, double from, double to, double* out,
                           std::size_t& found) {
  return magnitude ? between_of<true>(source, n, from, to, out, found)
                   : between_of<false>(source, n, from, to, out, found);
}

extern const Kernels table;
const Kernels table = {hwy::TargetName(HWY_TARGET),
                       fused_multiply,
                       decode,
                       integer_range,
                       integer_decode,
                       integer_sum,
                       range_of,
                       sums,
                       stream,
                       stream_unrounded,
                       stream_product,
                       stream_signs,
                       stream_bytes,
                       shift,
                       smallest_magnitude,
                       count_zero_negative,
                       product,
                       between_float,
                       between_double};

}  // namespace HWY_NAMESPACE
}  // namespace smd::detail::reduce
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#if HWY_ARCH_X86
#include <cpuid.h>
#endif

namespace smd::detail::reduce {
namespace {

#if HWY_ARCH_X86 && (HWY_TARGETS & HWY_AVX2)
// Clang 14 does not know it by name.
bool has_f16c() {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}
#endif

std::vector<const Kernels*> find_kernels() {
  std::vector<const Kernels*> found;
#if HWY_ARCH_X86
#if HWY_TARGETS & HWY_AVX3
  if (SMD_CPU_HAS(AVX512F, "avx512f") && SMD_CPU_HAS(AVX512VL, "avx512vl") && SMD_CPU_HAS(AVX512BW, "avx512bw") &&
      SMD_CPU_HAS(AVX512DQ, "avx512dq") && SMD_CPU_HAS(AVX512CD, "avx512cd")) {
    found.push_back(&N_AVX3::table);
  }
#endif
#if HWY_TARGETS & HWY_AVX2
  if (SMD_CPU_HAS(AVX2, "avx2") && SMD_CPU_HAS(FMA, "fma") && SMD_CPU_HAS(BMI1, "bmi") && SMD_CPU_HAS(BMI2, "bmi2") &&
      has_f16c()) {
    found.push_back(&N_AVX2::table);
  }
#endif
#if HWY_TARGETS & HWY_SSE4
  if (SMD_CPU_HAS(SSE4_2, "sse4.2") && SMD_CPU_HAS(PCLMULQDQ, "pclmul") && SMD_CPU_HAS(AES, "aes")) {
    found.push_back(&N_SSE4::table);
  }
#endif
#endif
  found.push_back(&HWY_STATIC_DISPATCH(table));
  return found;
}

std::atomic<const Kernels*> current = nullptr;

}  // namespace

std::vector<const Kernels*> available_kernels() { return find_kernels(); }

const Kernels& kernels() noexcept {
  const Kernels* chosen = current.load(std::memory_order_acquire);
  if (chosen == nullptr) {
    chosen = find_kernels().front();
    current.store(chosen, std::memory_order_release);
  }
  return *chosen;
}

void choose_kernels(const Kernels& chosen) noexcept { current.store(&chosen, std::memory_order_release); }

}  // namespace smd::detail::reduce
#endif
