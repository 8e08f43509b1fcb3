// SPDX-License-Identifier: Apache-2.0
// Compares pairs of floating-point elements.

HWY_BEFORE_NAMESPACE();
namespace smd::detail::reduce {  // NOLINT(modernize-concat-nested-namespaces): a macro follows
namespace HWY_NAMESPACE {

// For a lambda that the compiler considers too large to inline: its sums would go through memory.
#undef SMD_INLINE_LAMBDA
#define SMD_INLINE_LAMBDA HWY_ATTR __attribute__((always_inline))

// Calls step(a, b) for every two vectors of doubles. The last elements are filled up with zeros, which change no sum.
// There is one call, so that the compiler inlines it and keeps the sums in registers.
template <class T, class Step>
HWY_INLINE void each_pair(const std::byte* a, const std::byte* b, std::size_t n, const Step& step) {
  const std::size_t width = 2 * hn::Lanes(Doubles());
  HWY_ALIGN T rest_a[block_padding];
  HWY_ALIGN T rest_b[block_padding];
  const T* from_a = typed<T>(a);
  const T* from_b = typed<T>(b);
  std::size_t rest = n % width;
  std::size_t end = n - rest;
  while (true) {
    for (std::size_t i = 0; i < end; i += width) {
      step(from_a + i, from_b + i);
    }
    if (rest == 0) {
      return;
    }
    std::memset(rest_a, 0, sizeof rest_a);
    std::memset(rest_b, 0, sizeof rest_b);
    std::memcpy(rest_a, a + end * sizeof(T), rest * sizeof(T));
    std::memcpy(rest_b, b + end * sizeof(T), rest * sizeof(T));
    from_a = rest_a;
    from_b = rest_b;
    end = width;
    rest = 0;
  }
}

// The largest |a - b| / |b| so far. Division is slow and the largest seldom changes, so a product tests whether it
// does.
struct LargestQuotient {
  hn::Vec<Doubles> best;

  HWY_INLINE void start(double known) { best = hn::Set(Doubles(), known); }
  HWY_INLINE void take(hn::Vec<Doubles> size0, hn::Vec<Doubles> b0, hn::Vec<Doubles> size1, hn::Vec<Doubles> b1) {
    const auto larger = hn::Or(hn::Gt(size0, hn::Mul(best, b0)), hn::Gt(size1, hn::Mul(best, b1)));
    if (HWY_UNLIKELY(!hn::AllFalse(Doubles(), larger))) {
      divide(size0, b0);
      divide(size1, b1);
    }
  }
  HWY_INLINE void divide(hn::Vec<Doubles> size, hn::Vec<Doubles> b) {
    const Doubles d;
    const auto quotient = hn::IfThenElse(hn::Gt(size, hn::Mul(best, b)), hn::Div(size, b), best);
    best = hn::Set(d, largest_of(d, hn::Max(best, quotient)));
  }
};

template <class T, bool tolerant, class Widen>
HWY_INLINE void compare_as(const std::byte* a, const std::byte* b, std::size_t n, const Tolerance& tolerance,
                           PairSums& sums, const Widen& widen) {
  const Doubles d;
  const hn::RebindToSigned<Doubles> di;
  const auto zero = hn::Zero(d);
  const auto rtol = hn::Set(d, tolerance.rtol);
  const auto atol = hn::Set(d, tolerance.atol);
  auto magnitude = zero;
  auto max = zero;
  auto square0 = zero;
  auto square1 = zero;
  auto square_a0 = zero;
  auto square_a1 = zero;
  auto square_b0 = zero;
  auto square_b1 = zero;
  auto product0 = zero;
  auto product1 = zero;
  auto differing = hn::Zero(di);  // minus the number of pairs
  LargestQuotient quotient;
  quotient.start(sums.max_rel);
  each_pair<T>(a, b, n, [&](const T* from_a, const T* from_b) SMD_INLINE_LAMBDA {
    hn::Vec<Doubles> a0;
    hn::Vec<Doubles> a1;
    hn::Vec<Doubles> b0;
    hn::Vec<Doubles> b1;
    widen(from_a, a0, a1);
    widen(from_b, b0, b1);
    square_a0 = hn::MulAdd(a0, a0, square_a0);
    square_a1 = hn::MulAdd(a1, a1, square_a1);
    square_b0 = hn::MulAdd(b0, b0, square_b0);
    square_b1 = hn::MulAdd(b1, b1, square_b1);
    product0 = hn::MulAdd(a0, b0, product0);
    product1 = hn::MulAdd(a1, b1, product1);
    const auto size0 = hn::Abs(hn::Sub(a0, b0));
    const auto size1 = hn::Abs(hn::Sub(a1, b1));
    magnitude = hn::Add(magnitude, hn::Add(size0, size1));
    max = hn::Max(max, hn::Max(size0, size1));
    square0 = hn::MulAdd(size0, size0, square0);
    square1 = hn::MulAdd(size1, size1, square1);
    const auto abs0 = hn::Abs(b0);
    const auto abs1 = hn::Abs(b1);
    quotient.take(size0, abs0, size1, abs1);
    // The tolerance is rounded after each operation, as NumPy does.
    const auto above0 = tolerant ? hn::Gt(size0, hn::Add(atol, hn::Mul(rtol, abs0))) : hn::Gt(size0, zero);
    const auto above1 = tolerant ? hn::Gt(size1, hn::Add(atol, hn::Mul(rtol, abs1))) : hn::Gt(size1, zero);
    differing = hn::Add(
        differing, hn::Add(hn::BitCast(di, hn::VecFromMask(d, above0)), hn::BitCast(di, hn::VecFromMask(d, above1))));
  });
  const auto total = [d](hn::Vec<Doubles> x, hn::Vec<Doubles> y)
                         HWY_ATTR { return static_cast<double>(hn::GetLane(hn::SumOfLanes(d, hn::Add(x, y)))); };
  sums.magnitude = total(magnitude, zero);
  sums.square = total(square0, square1);
  sums.square_a = total(square_a0, square_a1);
  sums.square_b = total(square_b0, square_b1);
  sums.product = total(product0, product1);
  sums.max_abs = largest_of(d, max);
  sums.max_rel = static_cast<double>(hn::GetLane(quotient.best));
  sums.differing = static_cast<std::uint64_t>(-static_cast<std::int64_t>(hn::GetLane(hn::SumOfLanes(di, differing))));
}

inline void compare(Dtype type, const std::byte* a, const std::byte* b, std::size_t n, const Tolerance& tolerance,
                    PairSums& sums) {
  visit_floats(type, [&]<class As>(As) HWY_ATTR {
    const typename As::Widen widen;
    if (tolerance.rtol == 0 && tolerance.atol == 0) {
      compare_as<typename As::T, false>(a, b, n, tolerance, sums, widen);
    } else {
      compare_as<typename As::T, true>(a, b, n, tolerance, sums, widen);
    }
  });
}

template <class T, class Widen>
HWY_INLINE double square_of(const std::byte* source, std::size_t n, const Widen& widen) {
  const Doubles d;
  auto square0 = hn::Zero(d);
  auto square1 = hn::Zero(d);
  each_pair<T>(source, source, n, [&](const T* from, const T*) SMD_INLINE_LAMBDA {
    hn::Vec<Doubles> v0;
    hn::Vec<Doubles> v1;
    widen(from, v0, v1);
    square0 = hn::MulAdd(v0, v0, square0);
    square1 = hn::MulAdd(v1, v1, square1);
  });
  return static_cast<double>(hn::GetLane(hn::SumOfLanes(d, hn::Add(square0, square1))));
}

inline double square_sum(Dtype type, const std::byte* source, std::size_t n) {
  return visit_floats(
      type, [&]<class As>(As) HWY_ATTR { return square_of<typename As::T>(source, n, typename As::Widen()); });
}

}  // namespace HWY_NAMESPACE
}  // namespace smd::detail::reduce
HWY_AFTER_NAMESPACE();
