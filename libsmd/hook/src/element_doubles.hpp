// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/tensor_view.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace smd::detail::hook {

/// A binary16 number.
inline double half_number(std::uint16_t bits) noexcept {
  const int exponent = bits >> 10 & 0x1F;
  const int fraction = bits & 0x3FF;
  double magnitude = 0;
  if (exponent == 0x1F) {
    magnitude = fraction == 0 ? HUGE_VAL : NAN;
  } else if (exponent == 0) {
    magnitude = std::ldexp(fraction, -24);
  } else {
    magnitude = std::ldexp(fraction + 0x400, exponent - 25);
  }
  return std::copysign(magnitude, (bits & 0x8000) == 0 ? 1.0 : -1.0);
}

/// The upper half of a binary32 number.
inline double bfloat16_number(std::uint16_t bits) noexcept {
  return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16));
}

/// Calls use(x) with each element of a view of a real type, in order, as the nearest double. Elements beyond the view's
/// bytes are left out.
template <class Use>
void for_each_double(const TensorView& view, const Use& use) {
  const Dtype type = storage_type(view.dtype());
  const std::size_t item = item_size(type);
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(view.size(), view.bytes().size() / item));
  const auto each = [&](auto element, const auto& number) {
    for (std::size_t i = 0; i < count; ++i) {
      std::memcpy(&element, view.bytes().data() + i * item, sizeof element);
      use(number(element));
    }
  };
  const auto converted = [](auto element) { return static_cast<double>(element); };
  switch (type) {
    case Dtype::float64:
      return each(double{}, converted);
    case Dtype::float32:
      return each(float{}, converted);
    case Dtype::float16:
      return each(std::uint16_t{}, half_number);
    case Dtype::bfloat16:
      return each(std::uint16_t{}, bfloat16_number);
    case Dtype::int8:
      return each(std::int8_t{}, converted);
    case Dtype::int16:
      return each(std::int16_t{}, converted);
    case Dtype::int32:
      return each(std::int32_t{}, converted);
    case Dtype::int64:
      return each(std::int64_t{}, converted);
    case Dtype::uint8:
    case Dtype::boolean:
      return each(std::uint8_t{}, converted);
    case Dtype::uint16:
      return each(std::uint16_t{}, converted);
    case Dtype::uint32:
      return each(std::uint32_t{}, converted);
    case Dtype::uint64:
      return each(std::uint64_t{}, converted);
    default:  // not real
      return;
  }
}

}  // namespace smd::detail::hook
