// SPDX-License-Identifier: Apache-2.0
// Finds the elements between two bounds.

HWY_BEFORE_NAMESPACE();
namespace smd::detail::reduce {  // NOLINT(modernize-concat-nested-namespaces): a macro follows
namespace HWY_NAMESPACE {

// Row m lists the positions of the bits of m, in order.
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

// Used instead of Highway's Compress, whose table GCC 12 copies to the stack at every call.
template <class D>
HWY_INLINE hn::Vec<D> compress(D d, hn::Vec<D> v, hn::Mask<D> mask) {
#if HWY_TARGET == HWY_SCALAR
  (void)d;
  (void)mask;
  return v;
#elif HWY_TARGET == HWY_AVX3
  (void)d;
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    return hn::Vec<D>{_mm512_maskz_compress_ps(mask.raw, v.raw)};
  } else {
    return hn::Vec<D>{_mm512_maskz_compress_pd(mask.raw, v.raw)};
  }
#else
  static_assert(hn::MaxLanes(D()) <= 8, "rows of the table are for at most eight lanes");
  std::uint8_t bits[8] = {};
  hn::StoreMaskBits(d, mask, bits);
  const hn::Rebind<std::uint8_t, D> bytes;
  const hn::Rebind<std::int32_t, D> words;
  const auto at = hn::PromoteTo(words, hn::LoadU(bytes, places.of[bits[0]]));
  if constexpr (sizeof(hn::TFromD<D>) == 8) {
    const hn::RebindToSigned<D> lanes;
    return hn::TableLookupLanes(v, hn::IndicesFromVec(d, hn::PromoteTo(lanes, at)));
  } else {
    return hn::TableLookupLanes(v, hn::IndicesFromVec(d, at));
  }
#endif
}

template <bool magnitude, class T>
HWY_INLINE std::size_t between_of(const std::byte* source, std::size_t n, T from, T to, T* out, std::size_t& found) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto lower = hn::Set(d, from);
  const auto upper = hn::Set(d, to);
  std::size_t withins = 0;
  std::size_t count = 0;
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    auto v = hn::LoadU(d, typed<T>(source) + i);
    if constexpr (magnitude) {
      v = hn::Abs(v);
    }
    const auto within = hn::Le(v, upper);
    const auto inside = hn::And(within, hn::Ge(v, lower));
    withins += hn::CountTrue(d, within);
    hn::StoreU(compress(d, v, inside), d, out + count);
    count += hn::CountTrue(d, inside);
  }
  std::size_t below = withins - count;
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

template <class T>
std::size_t between_bounds(const std::byte* source, std::size_t n, bool magnitude, T from, T to, T* out,
                           std::size_t& found) {
  return magnitude ? between_of<true>(source, n, from, to, out, found)
                   : between_of<false>(source, n, from, to, out, found);
}

}  // namespace HWY_NAMESPACE
}  // namespace smd::detail::reduce
HWY_AFTER_NAMESPACE();
