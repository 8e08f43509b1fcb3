// SPDX-License-Identifier: Apache-2.0
// Extremes and sums in one pass over stored elements.

HWY_BEFORE_NAMESPACE();
namespace smd::detail::reduce {  // NOLINT(modernize-concat-nested-namespaces): a macro follows
namespace HWY_NAMESPACE {

// Extremes of floats, or of what `load` converts to floats.
struct FloatRange {
  using Floats = hn::ScalableTag<float>;
  using Bits = hn::RebindToUnsigned<Floats>;
  hn::Vec<Floats> min;
  hn::Vec<Floats> max;
  hn::Vec<Bits> smallest;  // minimum of |x| - 1; 0 wraps to the greatest value
  hn::Vec<Bits> sizes;     // bitwise OR of all |x| - 1, if requested; only 0 sets the highest bit

  HWY_INLINE void start() {
    min = hn::Set(Floats(), std::numeric_limits<float>::infinity());
    max = hn::Neg(min);
    smallest = hn::Set(Bits(), ~std::uint32_t{0});
    sizes = hn::Zero(Bits());
  }
  // Member by member: GCC keeps a structure that is copied as a whole in memory.
  HWY_INLINE void copy(const FloatRange& other) {
    min = other.min;
    max = other.max;
    smallest = other.smallest;
    sizes = other.sizes;
  }
  // Adds four vectors. `zeros`: find whether there is a 0.
  template <bool zeros>
  HWY_INLINE void take_four(hn::Vec<Floats> a, hn::Vec<Floats> b, hn::Vec<Floats> c, hn::Vec<Floats> d) {
    min = hn::Min(min, hn::Min(hn::Min(a, b), hn::Min(c, d)));
    max = hn::Max(max, hn::Max(hn::Max(a, b), hn::Max(c, d)));
    const auto size_a = size_of(a);
    const auto size_b = size_of(b);
    const auto size_c = size_of(c);
    const auto size_d = size_of(d);
    smallest = hn::Min(smallest, hn::Min(hn::Min(size_a, size_b), hn::Min(size_c, size_d)));
    if constexpr (zeros) {
      sizes = hn::Or(sizes, hn::Or(hn::Or(size_a, size_b), hn::Or(size_c, size_d)));
    }
  }
  // Precondition: `n` is a multiple of 64.
  template <bool zeros, class T, class Load>
  HWY_INLINE void take_all(const T* from, std::size_t n, const Load& load) {
    const Floats d;
    FloatRange state;
    state.copy(*this);
    const std::size_t lanes = hn::Lanes(d);
    for (std::size_t i = 0; i < n; i += 4 * lanes) {
      const T* const at = from + i;
      state.template take_four<zeros>(load(d, at), load(d, at + lanes), load(d, at + 2 * lanes),
                                      load(d, at + 3 * lanes));
    }
    copy(state);
  }
  HWY_INLINE void finish(BlockRange& range, bool zeros) const {
    range.min = smallest_of(Floats(), min);
    range.max = largest_of(Floats(), max);
    const std::uint32_t bits = hn::GetLane(hn::MinOfLanes(Bits(), smallest)) + 1U;
    range.smallest = bits == 0 ? std::numeric_limits<double>::infinity() : std::bit_cast<float>(bits);
    range.has_zero = !zeros || (hn::GetLane(hn::MaxOfLanes(Bits(), sizes)) >> 31U) != 0;
  }

 private:
  // |x| - 1.
  HWY_INLINE static hn::Vec<Bits> size_of(hn::Vec<Floats> v) {
    return hn::Sub(hn::BitCast(Bits(), hn::Abs(v)), hn::Set(Bits(), std::uint32_t{1}));
  }
};

// ---- 16-bit floats ----

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
    range.has_signs = true;
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
  HWY_INLINE static hn::Vec<hn::ScalableTag<float>> number(hn::Vec<HalfRange::Bits> pairs) {
    const hn::ScalableTag<float> d;
    const hn::RebindToSigned<decltype(d)> wide;
    const auto moved = hn::ShiftRight<3>(hn::BitCast(wide, pairs));
    const auto kept =
        hn::And(hn::BitCast(d, moved), hn::BitCast(d, hn::Set(hn::RebindToUnsigned<decltype(d)>(), 0x8FFFE000U)));
    return hn::Mul(kept, hn::Set(d, 0x1p112F));
  }
#endif
};

// `stream_floats` for 16-bit types.
template <bool magnitudes, bool grouped, class As, class Unpack>
HWY_INLINE void stream_halves(const std::byte* source, std::size_t n, const SumPlan& plan, BlockRange& range,
                              BlockSums& result) {
  const HalfRange::Bits d;
  HalfRange extremes;
  extremes.start();
  // Each square is exact, in at most 22 bits; so is the sum of eight of similar magnitude.
  ShortSums<magnitudes, grouped ? 8 : 1> sums;
  sums.start(plan.square_bias);
  for (std::size_t i = 0; !plan.squares && i < n; i += hn::Lanes(d)) {
    extremes.take(hn::LoadU(d, typed<std::uint16_t>(source) + i));
  }
  // Floats that wait in the first-level cache cost less than vectors of doubles whose halves must be moved, and leave
  // the registers to the sums.
  HWY_ALIGN float floats[looked_at_twice];
  for (std::size_t i = 0; plan.squares && i < n; i += looked_at_twice) {
    const std::uint16_t* const from = typed<std::uint16_t>(source) + i;
    const std::size_t part = std::min(looked_at_twice, n - i);
    for (std::size_t k = 0; k < part; k += hn::Lanes(d)) {
      const auto bits = hn::LoadU(d, from + k);
      extremes.take(bits);
      Unpack()(bits, from + k, floats + k);
    }
    sums.template take<sizeof(std::uint16_t)>(floats, part, WidenFloats(), from + part);
  }
  // Only sums need the smallest to be known to be exact.
  const bool smallest = (Unpack::finds_smallest && plan.squares) || plan.zeros;
  extremes.finish(range, typed<std::uint16_t>(source), n, smallest, typename As::Load());
  sums.finish(plan.square_bias, result);
  // Infinities and NaN have the greatest magnitudes.
  range.finite = std::isfinite(range.min) && std::isfinite(range.max);
}
#endif

// ---- all other types ----

// Computes extremes and sums without storing doubles in between.
template <class T, bool magnitudes, bool grouped, class Load, class Widen>
HWY_INLINE void stream_floats(const std::byte* source, std::size_t n, const SumPlan& plan, BlockRange& range,
                              BlockSums& result, const Load& load, const Widen& widen) {
  FloatRange extremes;
  extremes.start();
  ShortSums<magnitudes, grouped ? 4 : 1> sums;
  sums.start(plan.square_bias);
  for (std::size_t i = 0; i < n; i += looked_at_twice) {
    const std::size_t part = std::min(looked_at_twice, n - i);
    if (plan.zeros) {
      extremes.take_all<true>(typed<T>(source) + i, part, load);
    } else {
      extremes.take_all<false>(typed<T>(source) + i, part, load);
    }
    sums.template take<sizeof(T)>(typed<T>(source) + i, part, widen, typed<T>(source) + i + part);
  }
  extremes.finish(range, plan.zeros);
  sums.finish(plan.square_bias, result);
  range.finite = std::isfinite(result.sum);
}

// Extremes of doubles; for integers only minimum and maximum.
template <bool integers>
struct DoubleRange {
  hn::Vec<Doubles> min;
  hn::Vec<Doubles> max;
  hn::Vec<Doubles> least;

  HWY_INLINE void start() {
    min = least = hn::Set(Doubles(), std::numeric_limits<double>::infinity());
    max = hn::Neg(min);
  }
  HWY_INLINE void take(hn::Vec<Doubles> v, hn::Vec<Doubles> size) {
    min = hn::Min(min, v);
    max = hn::Max(max, v);
    if constexpr (!integers) {
      least = hn::Min(least, size);
    }
  }
  HWY_INLINE void finish(BlockRange& range, const std::byte* source, std::size_t n) const {
    const Doubles d;
    range.min = smallest_of(d, min);
    range.max = largest_of(d, max);
    range.smallest = integers ? 1 : smallest_of(d, least);
    range.has_zero = range.smallest == 0;
    if (range.has_zero) {
      // Only now, because zeros cost three operations for each vector.
      range.smallest = range_of(typed<double>(source), n).smallest;
    }
  }
};

template <class T, bool magnitudes, bool biased, class Load>
HWY_INLINE void stream_doubles(const std::byte* source, std::size_t n, const SumPlan& plan, BlockRange& range,
                               BlockSums& result, const Load& load) {
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d);
  DoubleRange<std::is_integral_v<T>> extremes;
  extremes.start();
  Lane<biased> sum0;
  Lane<biased> sum1;
  Lane<biased> magnitude0;
  Lane<biased> magnitude1;
  Lane<true> square0;
  Lane<true> square1;
  sum0.start(plan.sum_bias);
  sum1.start(plan.sum_bias);
  magnitude0.start(plan.sum_bias);
  magnitude1.start(plan.sum_bias);
  square0.start(plan.square_bias);
  square1.start(plan.square_bias);
  // Each cache line takes so much work that the hardware prefetcher does not look far enough ahead.
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
    if constexpr (biased) {
      sum0.add(v0);
      sum1.add(v1);
    } else {
      sum0.add(hn::Add(v0, v1));
    }
    if constexpr (magnitudes && biased) {
      magnitude0.add(size0);
      magnitude1.add(size1);
    } else if constexpr (magnitudes) {
      magnitude0.add(hn::Add(size0, size1));
    }
    square0.add_wide_square(v0);
    square1.add_wide_square(v1);
  }
  extremes.finish(range, source, n);
  finish_pair(sum0, sum1, plan.sum_bias, result.sum, result.sum_low);
  if constexpr (magnitudes) {
    finish_pair(magnitude0, magnitude1, plan.sum_bias, result.magnitude, result.magnitude_low);
  }
  finish_pair(square0, square1, plan.square_bias, result.square, result.square_low);
  range.finite = std::isfinite(result.sum) && std::isfinite(result.sum_low);
}

template <bool magnitudes, bool grouped>
HWY_INLINE void stream_as(Dtype type, const std::byte* source, std::size_t n, const SumPlan& plan, BlockRange& range,
                          BlockSums& result) {
  if (type == Dtype::int64 || type == Dtype::uint64) {
    return plan.sum_bias == 0
               ? stream_doubles<std::int64_t, magnitudes, false>(source, n, plan, range, result, LoadNarrow())
               : stream_doubles<std::int64_t, magnitudes, true>(source, n, plan, range, result, LoadWide());
  }
  visit_floats(type, [&]<class Stored>(FloatLoads<Stored> as) HWY_ATTR {
    using As = decltype(as);
    const typename As::Load load;
    if constexpr (std::is_same_v<Stored, double>) {
      stream_doubles<double, magnitudes, true>(source, n, plan, range, result, load);
#if HWY_TARGET != HWY_SCALAR
    } else if constexpr (std::is_same_v<Stored, Half>) {
      stream_halves<magnitudes, grouped, As, UnpackHalves>(source, n, plan, range, result);
    } else if constexpr (std::is_same_v<Stored, BFloat16>) {
      stream_halves<magnitudes, grouped, As, UnpackBfloats>(source, n, plan, range, result);
#endif
    } else {
      stream_floats<typename As::T, magnitudes, grouped>(source, n, plan, range, result, load, typename As::Widen());
    }
  });
}

inline void stream(Dtype type, const std::byte* source, std::size_t n, const SumPlan& plan, BlockRange& range,
                   BlockSums& result) {
  with_constants(plan.magnitudes, plan.grouped_squares, [&](auto magnitudes, auto grouped) HWY_ATTR {
    stream_as<magnitudes.value, grouped.value>(type, source, n, plan, range, result);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace smd::detail::reduce
HWY_AFTER_NAMESPACE();
