// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cmath>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>

namespace smd {
struct Half;
struct BFloat16;
}  // namespace smd

namespace smd::tool {

/// Bytes that suffice for any number's text.
inline constexpr std::size_t number_chars = 288;
/// The largest value of `--precision`.
inline constexpr int max_precision = 99;

/// Writes a number at `out`, where there must be `number_chars` bytes; returns the end. Without `precision` (0), the
/// shortest text that reads back equal in the number's own type; else that many significant digits, trailing zeros
/// dropped, as printf's %g. `nan`, `inf`, `-inf`. Complex: `1.5-2j`. Integers are always exact. No locale.
char* write_number(char* out, float number, int precision = 0) noexcept;
char* write_number(char* out, double number, int precision = 0) noexcept;
char* write_number(char* out, Half number, int precision = 0) noexcept;
char* write_number(char* out, BFloat16 number, int precision = 0) noexcept;
char* write_number(char* out, bool truth, int precision = 0) noexcept;  ///< `true`, `false`.
template <std::integral Integer>
char* write_number(char* out, Integer number, int /*precision*/ = 0) noexcept {
  return std::to_chars(out, out + number_chars, number).ptr;
}
template <class Real>
char* write_number(char* out, std::complex<Real> number, int precision = 0) noexcept {
  out = write_number(out, number.real(), precision);
  if (std::isnan(number.imag()) || !std::signbit(number.imag())) {
    *out++ = '+';
  }
  out = write_number(out, number.imag(), precision);
  *out++ = 'j';
  return out;
}

/// How JSON shows NaN and infinities: as the strings "NaN", "Infinity", "-Infinity", or as null.
enum class NonFinite : std::uint8_t { string, null };

/// Makes valid JSON of what `write_number` wrote of a real number at `begin`. Returns the new end.
char* make_json(char* begin, char* end, NonFinite style) noexcept;

/// As `write_number`, but valid JSON: non-finite numbers as `style` says, complex as `[1.5, -2]`, a zero with a
/// sign as `-0.0`.
template <class Number>
char* write_json_number(char* out, Number number, int precision, NonFinite style) noexcept {
  if constexpr (requires { number.imag(); }) {
    *out++ = '[';
    out = write_json_number(out, number.real(), precision, style);
    *out++ = ',';
    *out++ = ' ';
    out = write_json_number(out, number.imag(), precision, style);
    *out++ = ']';
    return out;
  } else {
    return make_json(out, write_number(out, number, precision), style);
  }
}

/// The number's text as a string.
template <class Number>
[[nodiscard]] std::string number_text(Number number, int precision = 0) {
  char text[number_chars];
  return {text, write_number(text, number, precision)};
}

/// The same, but whole numbers up to 2^53 in full, whatever the precision.
[[nodiscard]] std::string whole_number_text(double number, int precision);

}  // namespace smd::tool
