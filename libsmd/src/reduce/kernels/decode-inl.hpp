// SPDX-License-Identifier: Apache-2.0
// Converts elements of up to 32 bits, and doubles, to doubles in memory; short elements to floats.
// Included once for every instruction set: Highway toggles the guard each time.
#if defined(SMD_REDUCE_KERNELS_DECODE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SMD_REDUCE_KERNELS_DECODE_INL
#undef SMD_REDUCE_KERNELS_DECODE_INL
#else
#define SMD_REDUCE_KERNELS_DECODE_INL
#endif

#include "reduce/kernels.hpp"
#include "reduce/kernels/load-inl.hpp"

#include <hwy/highway.h>

#include <bit>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace smd::detail::reduce {  // NOLINT(modernize-concat-nested-namespaces): a macro follows
namespace HWY_NAMESPACE {

// Single precision, or half precision widened to it: `load` returns a full vector of floats.
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
    // In unsigned integers |x| - 1 wraps for 0, so that the minimum is the smallest nonzero |x|.
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

inline BlockRange range_of(const double* values, std::size_t n) {
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
      // Adds 2^32 back where the sign bit was set.
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

// Any byte other than 0 is true.
HWY_INLINE void truth_of(const std::byte* source, std::size_t n, std::uint8_t* truth) {
  for (std::size_t i = 0; i < n; ++i) {
    truth[i] = source[i] != std::byte{0} ? 1 : 0;
  }
}

inline void decode(Dtype type, const std::byte* source, std::size_t n, double* out, BlockRange& range) {
  visit_element_type(type, [&]<class Stored>(ElementType<Stored>) HWY_ATTR {
    using As = FloatLoads<Stored>;
    if constexpr (std::is_same_v<Stored, double>) {
      std::memcpy(out, source, n * sizeof(double));
      clear_padding(out, n);
      range = range_of(out, n);
    } else if constexpr (has_loads<Stored>) {
      decode_floats<typename As::T>(source, n, out, range, typename As::Load());
    } else if constexpr (std::is_same_v<Stored, Float8>) {
      HWY_ALIGN std::uint16_t wide[block_size];
      widen_float8(type, source, n, wide);
      decode_floats<std::uint16_t>(reinterpret_cast<const std::byte*>(wide), n, out, range, LoadBfloat());
    } else if constexpr (std::is_same_v<Stored, bool>) {
      HWY_ALIGN std::uint8_t truth[block_size];
      truth_of(source, n, truth);
      decode_integers<std::uint8_t>(reinterpret_cast<const std::byte*>(truth), n, out, range);
    } else if constexpr (std::is_integral_v<Stored> && sizeof(Stored) <= 4) {
      decode_integers<Stored>(source, n, out, range);
    } else {
      refuse_elements(type);
    }
  });
}

struct LoadSmallInteger {
  template <class T>
  HWY_INLINE hn::Vec<hn::ScalableTag<float>> operator()(hn::ScalableTag<float> d, const T* from) const {
    const hn::Rebind<T, decltype(d)> narrow;
    const hn::RebindToSigned<decltype(d)> wide;
    return hn::ConvertTo(d, hn::PromoteTo(wide, hn::LoadU(narrow, from)));
  }
};

template <class T, class Load>
HWY_INLINE void to_floats_of(const std::byte* source, std::size_t n, float* out, const Load& load) {
  const hn::ScalableTag<float> d;
  each<T>(source, n, hn::Lanes(d),
          [&](const T* from, std::size_t at) HWY_ATTR { hn::StoreU(load(d, from), d, out + at); });
}

inline void to_floats(Dtype type, const std::byte* source, std::size_t n, float* out) {
  visit_element_type(type, [&]<class Stored>(ElementType<Stored>) HWY_ATTR {
    using As = FloatLoads<Stored>;
    if constexpr (std::is_same_v<Stored, float>) {
      std::memcpy(out, source, n * sizeof(float));
    } else if constexpr (has_loads<Stored> && sizeof(Stored) == 2) {
      to_floats_of<typename As::T>(source, n, out, typename As::Load());
    } else if constexpr (std::is_same_v<Stored, Float8>) {
      HWY_ALIGN std::uint16_t wide[block_size];
      widen_float8(type, source, n, wide);
      to_floats_of<std::uint16_t>(reinterpret_cast<const std::byte*>(wide), n, out, LoadBfloat());
    } else if constexpr (std::is_same_v<Stored, bool>) {
      HWY_ALIGN std::uint8_t truth[block_size];
      truth_of(source, n, truth);
      to_floats_of<std::uint8_t>(reinterpret_cast<const std::byte*>(truth), n, out, LoadSmallInteger());
    } else if constexpr (std::is_integral_v<Stored> && sizeof(Stored) <= 2) {
      to_floats_of<Stored>(source, n, out, LoadSmallInteger());
    } else {
      refuse_elements(type);
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace smd::detail::reduce
HWY_AFTER_NAMESPACE();

#endif
