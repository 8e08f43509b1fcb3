// SPDX-License-Identifier: Apache-2.0
// Extremes of floats.
// Included once for every instruction set: Highway toggles the guard each time.
#if defined(SMD_REDUCE_KERNELS_EXTREMES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SMD_REDUCE_KERNELS_EXTREMES_INL
#undef SMD_REDUCE_KERNELS_EXTREMES_INL
#else
#define SMD_REDUCE_KERNELS_EXTREMES_INL
#endif

#include "reduce/kernels.hpp"
#include "reduce/kernels/load-inl.hpp"

#include <hwy/highway.h>

#include <bit>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace smd::detail::reduce {  // NOLINT(modernize-concat-nested-namespaces): a macro follows
namespace HWY_NAMESPACE {

// Extremes of floats, or of what `load` converts to floats.
struct FloatRange {
  using Floats = hn::ScalableTag<float>;
  using Bits = hn::RebindToUnsigned<Floats>;
  hn::Vec<Floats> min;
  hn::Vec<Floats> max;
  hn::Vec<Bits> smallest;  // minimum of |x| - 1, if requested; 0 wraps to the greatest value
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
  // Adds four vectors. `least`: find the smallest |x| other than 0; `zeros`: find whether there is a 0.
  template <bool least, bool zeros>
  HWY_INLINE void take_four(hn::Vec<Floats> a, hn::Vec<Floats> b, hn::Vec<Floats> c, hn::Vec<Floats> d) {
    static_assert(least || !zeros);
    min = hn::Min(min, hn::Min(hn::Min(a, b), hn::Min(c, d)));
    max = hn::Max(max, hn::Max(hn::Max(a, b), hn::Max(c, d)));
    if constexpr (least) {
      const auto size_a = size_of(a);
      const auto size_b = size_of(b);
      const auto size_c = size_of(c);
      const auto size_d = size_of(d);
      smallest = hn::Min(smallest, hn::Min(hn::Min(size_a, size_b), hn::Min(size_c, size_d)));
      if constexpr (zeros) {
        sizes = hn::Or(sizes, hn::Or(hn::Or(size_a, size_b), hn::Or(size_c, size_d)));
      }
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
      state.template take_four<true, zeros>(load(d, at), load(d, at + lanes), load(d, at + 2 * lanes),
                                            load(d, at + 3 * lanes));
    }
    copy(state);
  }
  // `least` as in `take_four`; without it `smallest` is 0, which is always a lower bound.
  template <bool least>
  HWY_INLINE void finish(BlockRange& range) const {
    range.min = smallest_of(Floats(), min);
    range.max = largest_of(Floats(), max);
    range.smallest = 0;
    if constexpr (least) {
      const std::uint32_t bits = hn::GetLane(hn::MinOfLanes(Bits(), smallest)) + 1U;
      range.smallest = bits == 0 ? std::numeric_limits<double>::infinity() : std::bit_cast<float>(bits);
    }
    range.has_zero = (hn::GetLane(hn::MaxOfLanes(Bits(), sizes)) >> 31U) != 0;
  }

 private:
  // |x| - 1.
  HWY_INLINE static hn::Vec<Bits> size_of(hn::Vec<Floats> v) {
    return hn::Sub(hn::BitCast(Bits(), hn::Abs(v)), hn::Set(Bits(), std::uint32_t{1}));
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace smd::detail::reduce
HWY_AFTER_NAMESPACE();

#endif
