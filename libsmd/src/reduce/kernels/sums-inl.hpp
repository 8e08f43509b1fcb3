// SPDX-License-Identifier: Apache-2.0
// Sums of doubles in memory, without error or almost without.

HWY_BEFORE_NAMESPACE();
namespace smd::detail::reduce {  // NOLINT(modernize-concat-nested-namespaces): a macro follows
namespace HWY_NAMESPACE {

// a + b on the multiplication units, because everything else here keeps the addition units busy.
HWY_INLINE hn::Vec<Doubles> plus(hn::Vec<Doubles> a, hn::Vec<Doubles> b) {
  if constexpr (fused_multiply) {
    return hn::MulAdd(a, hn::Set(Doubles(), 1.0), b);
  } else {
    return hn::Add(a, b);
  }
}

// One accumulator, as SumPlan describes. Loops name each accumulator, because GCC keeps indexed ones in memory.
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
  // Adds two at once, so that `low`, which may be in memory, is accessed once.
  HWY_INLINE void add_both(hn::Vec<Doubles> v, hn::Vec<Doubles> w) {
    const auto next = plus(v, sum);
    const auto last = plus(w, next);
    if constexpr (biased) {
      low = hn::Add(low, plus(hn::Sub(v, hn::Sub(next, sum)), hn::Sub(w, hn::Sub(last, next))));
    }
    sum = last;
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
  // Keeps every bit of the square.
  HWY_INLINE void add_wide_square(hn::Vec<Doubles> v) {
    if constexpr (fused_multiply) {
      add_square(v);
    } else {
      // Dekker, "A floating-point technique for extending the available precision", 1971: products of halves (here of
      // 26 and 27 bits) are exact.
      const auto upper =
          hn::And(v, hn::BitCast(Doubles(), hn::Set(hn::RebindToUnsigned<Doubles>(), ~std::uint64_t{0x7FFFFFF})));
      const auto lower = hn::Sub(v, upper);
      const auto square = hn::Mul(v, v);
      const auto crossed = hn::Mul(hn::Add(upper, upper), lower);
      const auto error = hn::Add(hn::Add(hn::Sub(hn::Mul(upper, upper), square), crossed), hn::Mul(lower, lower));
      add(square);
      low = hn::Add(low, error);
    }
  }
};

template <bool biased>
HWY_INLINE void finish_pair(const Lane<biased>& a, const Lane<biased>& b, double bias, double& high, double& low) {
  const Doubles d;
  const auto offset = hn::Set(d, bias);
  high = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Sub(a.sum, offset), hn::Sub(b.sum, offset))));
  low = hn::GetLane(hn::SumOfLanes(d, hn::Add(a.low, b.low)));
}

// Number of elements that are read twice: once for extremes, once for sums. One loop for both would need more
// registers than there are.
inline constexpr std::size_t looked_at_twice = 2048;

// Sums of floats of 32 or 16 bits, for which the sums of x and |x| need no bias. There are few accumulators, each
// accessed rarely: the machine has only 16 registers, and an accumulator in memory costs a round trip each time.
// `group`: number of vectors of squares (1, 4 or 8) that are added before they are added without error.
template <bool magnitudes, int group>
struct ShortSums {
  hn::Vec<Doubles> sum;
  hn::Vec<Doubles> magnitude;
  Lane<true> square0;
  Lane<true> square1;

  HWY_INLINE void start(double square_bias) {
    sum = magnitude = hn::Zero(Doubles());
    square0.start(square_bias);
    square1.start(square_bias);
  }

  // Member by member: GCC keeps a structure that is copied as a whole in memory.
  HWY_INLINE void copy(const ShortSums& other) {
    sum = other.sum;
    magnitude = other.magnitude;
    square0.sum = other.square0.sum;
    square0.low = other.square0.low;
    square1.sum = other.square1.sum;
    square1.low = other.square1.low;
  }

  // Adds four vectors of doubles. If squares are grouped, puts those of two into `a` and those of the others into `b`,
  // or adds them unless `first`. Each square is exact, and so is the sum of a group of similar magnitude.
  template <bool first, class T, class Widen>
  HWY_INLINE void take_four(const T* from, const Widen& widen, hn::Vec<Doubles>& a, hn::Vec<Doubles>& b) {
    hn::Vec<Doubles> v0;
    hn::Vec<Doubles> v1;
    hn::Vec<Doubles> v2;
    hn::Vec<Doubles> v3;
    widen(from, v0, v1);
    widen(from + 2 * hn::Lanes(Doubles()), v2, v3);
    // Half of the additions go to the multiplication units.
    sum = hn::Add(sum, hn::Add(hn::Add(v0, v1), hn::Add(v2, v3)));
    if constexpr (magnitudes) {
      magnitude = plus(plus(plus(hn::Abs(v0), hn::Abs(v1)), plus(hn::Abs(v2), hn::Abs(v3))), magnitude);
    }
    if constexpr (group > 1) {
      a = hn::MulAdd(v1, v1, first ? hn::Mul(v0, v0) : hn::MulAdd(v0, v0, a));
      b = hn::MulAdd(v3, v3, first ? hn::Mul(v2, v2) : hn::MulAdd(v2, v2, b));
    } else {
      square0.add_square(v0);
      square1.add_square(v1);
      square0.add_square(v2);
      square1.add_square(v3);
    }
  }

  // Adds eight vectors of doubles.
  template <class T, class Widen>
  HWY_INLINE void take_eight(const T* from, const Widen& widen) {
    const std::size_t four = 4 * hn::Lanes(Doubles());
    auto a = hn::Zero(Doubles());
    auto b = a;
    auto c = a;
    auto d = a;
    take_four<true>(from, widen, a, b);
    if constexpr (group == 8) {
      take_four<false>(from + four, widen, a, b);
      square0.add(hn::Add(a, b));
    } else {
      take_four<true>(from + four, widen, c, d);
      if constexpr (group == 4) {
        square0.add_both(plus(a, b), plus(c, d));
      }
    }
  }

  // Precondition: `n` is a multiple of 64. `widen` returns two vectors of doubles at a time. `next`: what the caller
  // reads afterwards, `item` bytes for each element.
  template <std::size_t item, class T, class Widen>
  HWY_NOINLINE void take(const T* from, std::size_t n, const Widen& widen, const void* next) {
    ShortSums state;
    state.copy(*this);
    const std::size_t four = 4 * hn::Lanes(Doubles());
    for (std::size_t i = 0; i < n; i += 2 * four) {
      // The computation takes longer than the loads.
      for (std::size_t byte = 0; byte < 2 * four * item; byte += 64) {
        hwy::Prefetch(static_cast<const std::byte*>(next) + i * item + byte);
      }
      state.take_eight(from + i, widen);
    }
    copy(state);
  }

  HWY_INLINE void finish(double square_bias, BlockSums& result) const {
    const Doubles d;
    result.sum = hn::GetLane(hn::SumOfLanes(d, sum));
    result.magnitude = hn::GetLane(hn::SumOfLanes(d, magnitude));
    result.sum_low = result.magnitude_low = 0;
    finish_pair(square0, square1, square_bias, result.square, result.square_low);
  }
};

// Narrow squares have at most 53 bits; with a fused multiply-add every square can be treated so.
enum class Squares { none, narrow, wide };

template <bool biased, bool magnitudes, Squares squares>
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
    if constexpr (squares == Squares::wide) {
      square[0].add_wide_square(v0);
      square[1].add_wide_square(v1);
    } else if constexpr (squares == Squares::narrow) {
      square[0].add_square(v0);
      square[1].add_square(v1);
    }
  }
  finish_pair(sum[0], sum[1], plan.sum_bias, result.sum, result.sum_low);
  if constexpr (magnitudes) {
    finish_pair(magnitude[0], magnitude[1], plan.sum_bias, result.magnitude, result.magnitude_low);
  }
  if constexpr (squares != Squares::none) {
    finish_pair(square[0], square[1], plan.square_bias, result.square, result.square_low);
  }
}

template <bool biased, bool magnitudes>
HWY_INLINE void sums_chosen(const double* values, std::size_t n, const SumPlan& plan, BlockSums& result) {
  if (!plan.squares) {
    return sums_as<biased, magnitudes, Squares::none>(values, n, plan, result);
  }
  if constexpr (!fused_multiply) {
    if (plan.wide_squares) {
      return sums_as<biased, magnitudes, Squares::wide>(values, n, plan, result);
    }
  }
  sums_as<biased, magnitudes, Squares::narrow>(values, n, plan, result);
}

inline void sums(const double* values, std::size_t n, const SumPlan& plan, BlockSums& result) {
  with_constants(plan.sum_bias != 0, plan.magnitudes, [&](auto biased, auto magnitudes) HWY_ATTR {
    sums_chosen<biased.value, magnitudes.value>(values, n, plan, result);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace smd::detail::reduce
HWY_AFTER_NAMESPACE();
