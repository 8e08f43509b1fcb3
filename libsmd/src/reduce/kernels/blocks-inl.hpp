// SPDX-License-Identifier: Apache-2.0
// Other kernels for a block of doubles, or for as many stored elements.
// Included once for every instruction set: Highway toggles the guard each time.
#if defined(SMD_REDUCE_KERNELS_BLOCKS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SMD_REDUCE_KERNELS_BLOCKS_INL
#undef SMD_REDUCE_KERNELS_BLOCKS_INL
#else
#define SMD_REDUCE_KERNELS_BLOCKS_INL
#endif

#include "reduce/kernels.hpp"
#include "reduce/kernels/load-inl.hpp"

#include <hwy/highway.h>

#include <limits>

HWY_BEFORE_NAMESPACE();
namespace smd::detail::reduce {  // NOLINT(modernize-concat-nested-namespaces): a macro follows
namespace HWY_NAMESPACE {

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

inline void count_zero_negative(const double* values, std::size_t n, std::uint64_t& zero, std::uint64_t& negative) {
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t zeros = 0;
  std::size_t negatives = 0;
  // The padding is zero.
  for (std::size_t i = 0; i < n; i += lanes) {
    const auto v = hn::LoadU(d, values + i);
    zeros += hn::CountTrue(d, hn::Eq(v, hn::Zero(d)));
    negatives += hn::CountTrue(d, hn::Lt(v, hn::Zero(d)));
  }
  zero += zeros - (n % lanes == 0 ? 0 : lanes - n % lanes);
  negative += negatives;
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

inline void stream_signs(Dtype type, const std::byte* source, std::size_t n, std::uint64_t& zero,
                         std::uint64_t& negative) {
  visit_floats(type, [&]<class As>(As) HWY_ATTR {
    using T = typename As::T;
    const hn::ScalableTag<std::conditional_t<std::is_same_v<T, double>, double, float>> d;
    stream_signs_of<T>(d, source, n, zero, negative, typename As::Load());
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace smd::detail::reduce
HWY_AFTER_NAMESPACE();

#endif
