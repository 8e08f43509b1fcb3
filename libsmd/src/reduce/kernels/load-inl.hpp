// SPDX-License-Identifier: Apache-2.0
// Loads elements into registers: as full vectors, and as doubles.

HWY_BEFORE_NAMESPACE();
namespace smd::detail::reduce {  // NOLINT(modernize-concat-nested-namespaces): a macro follows
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::ScalableTag<double>;
constexpr bool fused_multiply = HWY_NATIVE_FMA != 0;

template <class T>
HWY_INLINE const T* typed(const std::byte* bytes) {
  // Passed only to unaligned vector loads.
  return reinterpret_cast<const T*>(bytes);
}

// Calls step(source, out) for every whole step of `width` elements. The remaining elements go through a copy that is
// filled up with the last one: repetition does not change extremes, and `out` has padding.
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

// Calls f(a, b) with the two as constants.
template <class F>
HWY_INLINE void with_constants(bool a, bool b, const F& f) {
  if (a && b) {
    f(std::true_type(), std::true_type());
  } else if (a) {
    f(std::true_type(), std::false_type());
  } else if (b) {
    f(std::false_type(), std::true_type());
  } else {
    f(std::false_type(), std::false_type());
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

// One by one, because not every instruction set reduces 16-bit lanes.
template <class D>
HWY_INLINE hn::TFromD<D> smallest_lane(D d, hn::Vec<D> v) {
  HWY_ALIGN hn::TFromD<D> lanes[64];
  hn::Store(v, d, lanes);
  return *std::min_element(lanes, lanes + hn::Lanes(d));
}
template <class D>
HWY_INLINE hn::TFromD<D> largest_lane(D d, hn::Vec<D> v) {
  HWY_ALIGN hn::TFromD<D> lanes[64];
  hn::Store(v, d, lanes);
  return *std::max_element(lanes, lanes + hn::Lanes(d));
}

// For targets without an instruction for it, Highway's own conversion from half precision turns infinities and NaN into
// large numbers.
#undef SMD_REDUCE_CONVERTS_HALVES
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128 || HWY_TARGET == HWY_SSE2 || HWY_TARGET == HWY_SSSE3 || \
    HWY_TARGET == HWY_SSE4
#define SMD_REDUCE_CONVERTS_HALVES 0
#else
#define SMD_REDUCE_CONVERTS_HALVES 1
#endif

struct LoadAsIs {
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, const hn::TFromD<D>* from) const {
    return hn::LoadU(d, from);
  }
};

struct LoadHalf {
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, const std::uint16_t* from) const {
    const hn::Rebind<std::uint16_t, D> du;
#if SMD_REDUCE_CONVERTS_HALVES
    const hn::Rebind<hwy::float16_t, D> dh;
    return hn::PromoteTo(d, hn::BitCast(dh, hn::LoadU(du, from)));
#else
    // Once fraction and exponent are in place, a factor corrects the bias; the highest exponent means infinity or NaN.
    const hn::RebindToUnsigned<D> wide;
    const auto bits = hn::PromoteTo(wide, hn::LoadU(du, from));
    const auto top = hn::Set(wide, std::uint32_t{0x7C00});
    const auto special = hn::IfThenElseZero(hn::Eq(hn::And(bits, top), top), hn::Set(wide, std::uint32_t{0x7F800000}));
    const auto magnitude = hn::ShiftLeft<13>(hn::And(bits, hn::Set(wide, std::uint32_t{0x7FFF})));
    const auto sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(wide, std::uint32_t{0x8000})));
    const auto number = hn::Mul(hn::BitCast(d, magnitude), hn::Set(d, 0x1p112F));
    return hn::BitCast(d, hn::Or(hn::Or(hn::BitCast(wide, number), special), sign));
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

// Loads as many elements as two vectors of doubles hold, converted to doubles, in any order. It loads them in parts,
// because moving the upper half of a vector down costs more.
template <class T, class Load>
struct WidenEach {
  HWY_INLINE void operator()(const T* from, hn::Vec<Doubles>& a, hn::Vec<Doubles>& b) const {
    const Doubles d;
    const hn::Rebind<float, Doubles> df;
    a = hn::PromoteTo(d, Load()(df, from));
    b = hn::PromoteTo(d, Load()(df, from + hn::Lanes(df)));
  }
};
using WidenFloats = WidenEach<float, LoadAsIs>;
using WidenHalves = WidenEach<std::uint16_t, LoadHalf>;
#if HWY_TARGET == HWY_SCALAR
using WidenBfloats = WidenEach<std::uint16_t, LoadBfloat>;
#else
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
#endif

struct WidenDoubles {
  HWY_INLINE void operator()(const double* from, hn::Vec<Doubles>& a, hn::Vec<Doubles>& b) const {
    const Doubles d;
    a = hn::LoadU(d, from);
    b = hn::LoadU(d, from + hn::Lanes(d));
  }
};

// How to load the floating-point types that are read as they are stored.
template <class Raw, class LoadOne, class WidenTwo>
struct Loads {
  using T = Raw;
  using Load = LoadOne;
  using Widen = WidenTwo;
};
template <class Stored>
struct FloatLoads {};
template <>
struct FloatLoads<float> : Loads<float, LoadAsIs, WidenFloats> {};
template <>
struct FloatLoads<double> : Loads<double, LoadAsIs, WidenDoubles> {};
template <>
struct FloatLoads<Half> : Loads<std::uint16_t, LoadHalf, WidenHalves> {};
template <>
struct FloatLoads<BFloat16> : Loads<std::uint16_t, LoadBfloat, WidenBfloats> {};
template <class Stored>
constexpr bool has_loads = requires {
  typename FloatLoads<Stored>::T;
};

// Returns f(FloatLoads<Stored>()). @throws InvalidArgument for other types.
template <class F>
HWY_INLINE decltype(auto) visit_floats(Dtype type, const F& f) {
  return visit_element_type(type,
                            [&]<class Stored>(std::type_identity<Stored>) HWY_ATTR -> decltype(f(FloatLoads<float>())) {
                              if constexpr (has_loads<Stored>) {
                                return f(FloatLoads<Stored>());
                              } else {
                                refuse_elements(type);
                              }
                            });
}
// Exact up to 2^53.
struct LoadWide {
  HWY_INLINE hn::Vec<Doubles> operator()(Doubles d, const std::int64_t* from) const {
    return hn::ConvertTo(d, hn::LoadU(hn::RebindToSigned<Doubles>(), from));
  }
};

// Exact below 2^51 in magnitude; larger values become 2^51 or more in magnitude, infinite or NaN. An integer added to
// the bits of 1.5 * 2^52 counts units.
struct LoadNarrow {
  HWY_INLINE hn::Vec<Doubles> operator()(Doubles d, const std::int64_t* from) const {
    const hn::RebindToSigned<Doubles> di;
    const auto middle = hn::Set(d, 0x1.8p52);
    return hn::Sub(hn::BitCast(d, hn::Add(hn::LoadU(di, from), hn::BitCast(di, middle))), middle);
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace smd::detail::reduce
HWY_AFTER_NAMESPACE();
