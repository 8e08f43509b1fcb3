// SPDX-License-Identifier: Apache-2.0
// Products without overflow and almost without error.

HWY_BEFORE_NAMESPACE();
namespace smd::detail::reduce {  // NOLINT(modernize-concat-nested-namespaces): a macro follows
namespace HWY_NAMESPACE {

// a * b = product + error, exactly.
HWY_INLINE void two_product(hn::Vec<Doubles> a, hn::Vec<Doubles> b, hn::Vec<Doubles>& product,
                            hn::Vec<Doubles>& error) {
  product = hn::Mul(a, b);
  if constexpr (fused_multiply) {
    error = hn::MulSub(a, b, product);
  } else {
    // Veltkamp and Dekker: splits into halves of 26 bits, whose products are exact.
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

// The product of the arguments of `times`, in two chains for each lane.
struct Chains {
  hn::Vec<Doubles> main[2];
  hn::Vec<Doubles> rest[2];
  hn::Vec<hn::RebindToSigned<Doubles>> exponents;

  HWY_INLINE Chains() {
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
  HWY_INLINE ScaledProduct finish() {
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
    ScaledProduct all;
    for (std::size_t lane = 0; lane < hn::Lanes(d); ++lane) {
      all.exponent += powers[lane];
      for (int k = 0; k < 2; ++k) {
        const double factor = parts[k][0][lane];
        const double next = all.high * factor;
        const double error = std::fma(all.high, factor, -next);
        all.low = all.low * factor + all.high * parts[k][1][lane] + error;
        all.high = next;
      }
    }
    return all;
  }
};

inline ScaledProduct product(const double* values, std::size_t n, std::size_t group) {
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d);
  Chains chains;
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
  return chains.finish();
}

// The product of two shorter numbers is exact in double.
template <class T, class Widen>
HWY_INLINE ScaledProduct stream_product_of(const std::byte* source, std::size_t n, std::size_t group,
                                           const Widen& widen) {
  const std::size_t two = 2 * hn::Lanes(Doubles());
  Chains chains;
  std::size_t until = 0;
  for (std::size_t i = 0; i < n; i += 2 * two) {
    const T* const from = typed<T>(source) + i;
    hn::Vec<Doubles> v0;
    hn::Vec<Doubles> v1;
    hn::Vec<Doubles> v2;
    hn::Vec<Doubles> v3;
    widen(from, v0, v1);
    widen(from + two, v2, v3);
    chains.times(0, hn::Mul(v0, v2));
    chains.times(1, hn::Mul(v1, v3));
    if (++until == group) {
      chains.normalise(0);
      chains.normalise(1);
      until = 0;
    }
  }
  return chains.finish();
}

inline ScaledProduct stream_product(Dtype type, const std::byte* source, std::size_t n, std::size_t group) {
  return visit_floats(type, [&]<class As>(As) HWY_ATTR {
    if constexpr (std::is_same_v<typename As::T, double>) {
      return product(typed<double>(source), n, group);
    } else {
      return stream_product_of<typename As::T>(source, n, group, typename As::Widen());
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace smd::detail::reduce
HWY_AFTER_NAMESPACE();
