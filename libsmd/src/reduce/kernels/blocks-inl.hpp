// SPDX-License-Identifier: Apache-2.0
// Kernels for a block of elements: those that convert it to doubles in memory, and those that read the doubles; 64-bit
// integers; 8-bit integers.

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
  visit_element_type(type, [&]<class Stored>(std::type_identity<Stored>) HWY_ATTR {
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
  visit_element_type(type, [&]<class Stored>(std::type_identity<Stored>) HWY_ATTR {
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

inline void shift(const double* values, std::size_t n, bool magnitude, double by, double* out) {
  const Doubles d;
  const auto offset = hn::Set(d, by);
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
    const auto v = hn::LoadU(d, values + i);
    hn::StoreU(hn::Sub(magnitude ? hn::Abs(v) : v, offset), d, out + i);
  }
  clear_padding(out, n);
}

inline double smallest_magnitude(const double* values, std::size_t n) {
  const Doubles d;
  auto smallest = hn::Set(d, std::numeric_limits<double>::infinity());
  each<double>(reinterpret_cast<const std::byte*>(values), n, hn::Lanes(d),
               [&](const double* from, std::size_t)
                   HWY_ATTR { smallest = hn::Min(smallest, hn::Abs(hn::LoadU(d, from))); });
  return smallest_of(d, smallest);
}

inline void bits(const std::byte* source, std::size_t bytes, std::uint64_t& any, std::uint64_t& all) {
  const hn::ScalableTag<std::uint64_t> d;
  const std::size_t lanes = hn::Lanes(d);
  auto some = hn::Zero(d);
  auto each_one = hn::Set(d, ~std::uint64_t{0});
  for (std::size_t i = 0; i < bytes / sizeof any; i += lanes) {
    const auto words = hn::LoadU(d, typed<std::uint64_t>(source) + i);
    some = hn::Or(some, words);
    each_one = hn::And(each_one, words);
  }
  HWY_ALIGN std::uint64_t parts[2][64];
  hn::Store(some, d, parts[0]);
  hn::Store(each_one, d, parts[1]);
  any = parts[0][0];
  all = parts[1][0];
  for (std::size_t lane = 1; lane < lanes; ++lane) {
    any |= parts[0][lane];
    all &= parts[1][lane];
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

inline void count_zero_negative(const double* values, std::size_t n, std::uint64_t& zero, std::uint64_t& negative) {
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t whole = (n + lanes - 1) / lanes * lanes;  // the padding is zero
  stream_signs_of<double>(d, reinterpret_cast<const std::byte*>(values), whole, zero, negative, LoadAsIs());
  zero -= whole - n;
}

inline void stream_signs(Dtype type, const std::byte* source, std::size_t n, std::uint64_t& zero,
                         std::uint64_t& negative) {
  visit_floats(type, [&]<class As>(As) HWY_ATTR {
    using T = typename As::T;
#if HWY_TARGET != HWY_SCALAR
    if constexpr (sizeof(T) == sizeof(std::uint16_t)) {  // by their bits: none is NaN
      const hn::ScalableTag<std::uint16_t> d;
      static_assert(longest_stream_size / 8 <= std::numeric_limits<std::uint16_t>::max(), "each lane counts");
      const auto one = hn::Set(d, std::uint16_t{1});
      const auto sign = hn::Set(d, std::uint16_t{0x8000});
      auto others = hn::Zero(d);
      auto negatives = others;
      for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
        const auto bits = hn::LoadU(d, typed<std::uint16_t>(source) + i);
        others = hn::Add(others, hn::Min(hn::AndNot(sign, bits), one));
        negatives = hn::Add(negatives, hn::Min(hn::SaturatedSub(bits, sign), one));
      }
      HWY_ALIGN std::uint16_t lanes[2][64];
      hn::Store(others, d, lanes[0]);
      hn::Store(negatives, d, lanes[1]);
      zero += n;
      for (std::size_t lane = 0; lane < hn::Lanes(d); ++lane) {
        zero -= lanes[0][lane];
        negative += lanes[1][lane];
      }
      return;
    }
#endif
    const hn::ScalableTag<std::conditional_t<std::is_same_v<T, double>, double, float>> d;
    stream_signs_of<T>(d, source, n, zero, negative, typename As::Load());
  });
}

// ---- 64-bit integers ----

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

// ---- 8-bit integers, computed in integers ----

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
  result.min = smallest_lane(d, min);
  result.max = largest_lane(d, max);
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
