// SPDX-License-Identifier: Apache-2.0
// 8-bit floating point. float, and even bfloat16, represents every value of every kind.
// Formats: "FP8 Formats for Deep Learning" (arXiv 2209.05433) for E4M3 and E5M2; "8-bit Numerical Formats for Deep
// Neural Networks" (arXiv 2206.02915) for the FNUZ kinds; OCP Microscaling Formats 1.0 for E8M0.
#include <smd/elements.hpp>

#include "types/dtype_table.hpp"

#include <algorithm>
#include <limits>

namespace smd {

namespace {

/// How to read the 256 codes of one kind: a sign unless `exponent_bits` is 8, then exponent, then mantissa.
struct Float8Format {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  enum class Specials : std::uint8_t {
    ieee,           ///< The greatest exponent means infinity or NaN.
    all_ones,       ///< No infinities; NaN is all ones after the sign.
    negative_zero,  ///< No infinities, no -0; its code is NaN.
  } specials;
};

/// Returns 2^exponent; exact, also if the result is subnormal.
constexpr float power_of_two(int exponent) noexcept {
  constexpr int bias = 1023;
  constexpr int mantissa_bits = 52;
  return static_cast<float>(std::bit_cast<double>(static_cast<std::uint64_t>(exponent + bias) << mantissa_bits));
}

constexpr float float8_value(const Float8Format& format, std::uint8_t code) noexcept {
  using Specials = Float8Format::Specials;
  const bool has_sign = format.exponent_bits < 8;
  const bool negative = has_sign && code >= 0x80;
  const unsigned rest = has_sign ? code & 0x7FU : code;
  const unsigned all = has_sign ? 0x7FU : 0xFFU;
  const unsigned greatest = (1U << format.exponent_bits) - 1;
  const unsigned exponent = rest >> format.mantissa_bits;
  const unsigned mantissa = rest & ((1U << format.mantissa_bits) - 1);
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  if ((format.specials == Specials::all_ones && rest == all) ||
      (format.specials == Specials::negative_zero && code == 0x80)) {
    return nan;
  }
  float size = 0;
  if (format.specials == Specials::ieee && exponent == greatest) {
    size = mantissa == 0 ? std::numeric_limits<float>::infinity() : nan;
  } else if (exponent == 0 && format.mantissa_bits > 0) {
    size = static_cast<float>(mantissa) * power_of_two(1 - format.bias - format.mantissa_bits);
  } else {
    const unsigned significand = mantissa + (1U << format.mantissa_bits);
    size =
        static_cast<float>(significand) * power_of_two(static_cast<int>(exponent) - format.bias - format.mantissa_bits);
  }
  return negative ? -size : size;
}

struct Float8Kind {
  Dtype dtype;
  std::array<float, 256> numbers;
};

constexpr Float8Kind kind_of(Dtype dtype, const Float8Format& format) noexcept {
  Float8Kind kind{dtype, {}};
  for (std::size_t code = 0; code < kind.numbers.size(); ++code) {
    kind.numbers[code] = float8_value(format, static_cast<std::uint8_t>(code));
  }
  return kind;
}

constexpr std::array<Float8Kind, 5> kinds = {
    kind_of(Dtype::float8_e5m2, {5, 2, 15, Float8Format::Specials::ieee}),
    kind_of(Dtype::float8_e4m3fn, {4, 3, 7, Float8Format::Specials::all_ones}),
    kind_of(Dtype::float8_e4m3fnuz, {4, 3, 8, Float8Format::Specials::negative_zero}),
    kind_of(Dtype::float8_e5m2fnuz, {5, 2, 16, Float8Format::Specials::negative_zero}),
    kind_of(Dtype::float8_e8m0fnu, {8, 0, 127, Float8Format::Specials::all_ones})};

static_assert(std::ranges::all_of(detail::dtype_table, [](const auto& facts) {
  return facts.kind != detail::ElementKind::floating || facts.item_size != 1 ||
         std::ranges::any_of(kinds, [&](const Float8Kind& kind) { return kind.dtype == facts.dtype; });
}));

}  // namespace

const std::array<float, 256>* float8_numbers(Dtype dtype) noexcept {
  const auto* const found = std::ranges::find(kinds, dtype, &Float8Kind::dtype);
  return found == kinds.end() ? nullptr : &found->numbers;
}

}  // namespace smd
