// SPDX-License-Identifier: Apache-2.0
#include "cli/number_format.hpp"

#include <smd/elements.hpp>

#include "text/half.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <type_traits>

namespace smd::tool {

namespace {

constexpr std::size_t real_chars = 128;  // sign, 99 digits, point, leading zeros, exponent

char* write_literal(char* out, std::string_view text) noexcept {
  std::memcpy(out, text.data(), text.size());
  return out + text.size();
}

std::string_view non_finite_text(double number) noexcept {
  if (std::isnan(number)) {
    return "nan";
  }
  return number > 0 ? "inf" : "-inf";
}

/// Writes a number from 2^23 to 2^52 that is no integer, such as a time in seconds, as `std::to_chars` does, in a third
/// of the time: with the fewest decimals that read back as the same number. Returns null for any other number.
char* write_with_decimals(char* out, double number) noexcept {
  constexpr int stored_bits = 52;  // of the mantissa
  constexpr std::uint64_t leading = std::uint64_t{1} << stored_bits;
  const auto bits = std::bit_cast<std::uint64_t>(number);
  const int exponent = static_cast<int>(bits >> stored_bits) - 1023;  // above 1024 if the number is negative
  if (exponent < 23 || exponent >= stored_bits) {
    return nullptr;
  }
  const auto shift = static_cast<unsigned>(stored_bits - exponent);
  const std::uint64_t mantissa = leading | (bits & (leading - 1));
  const std::uint64_t one = std::uint64_t{1} << shift;
  const std::uint64_t fraction = mantissa & (one - 1);
  if (fraction == 0) {
    return nullptr;
  }
  // Of n decimals, those nearest to the fraction read back as the number if they are less than half a last bit away (a
  // tie goes to the even mantissa). Ends, because 10^n is above `one` at the latest for n = 9; nothing overflows.
  std::uint64_t power = 1;
  for (int count = 1;; ++count) {
    power *= 10;
    const std::uint64_t scaled = fraction * power;
    std::uint64_t decimals = scaled >> shift;
    const std::uint64_t above = scaled & (one - 1);
    const bool up = above > one / 2 || (above == one / 2 && decimals % 2 != 0);
    const std::uint64_t away = up ? one - above : above;
    if (2 * away < power || (2 * away == power && mantissa % 2 == 0)) {
      decimals += up ? 1 : 0;
      out = std::to_chars(out, out + real_chars, mantissa >> shift).ptr;
      *out = '.';
      for (char* digit = out + count; digit != out; --digit) {
        *digit = static_cast<char>('0' + decimals % 10);
        decimals /= 10;
      }
      return out + count + 1;
    }
  }
}

template <class Number>
char* write_real(char* out, Number number, int precision) noexcept {
  if constexpr (std::is_same_v<Number, double>) {
    if (char* const end = precision > 0 ? nullptr : write_with_decimals(out, number); end != nullptr) {
      return end;
    }
  }
  if (!std::isfinite(number)) {
    return write_literal(out, non_finite_text(static_cast<double>(number)));
  }
  if (precision > 0) {
    return std::to_chars(out, out + real_chars, static_cast<double>(number), std::chars_format::general, precision).ptr;
  }
  return std::to_chars(out, out + real_chars, number).ptr;
}

// Writes the shortest text that reads back as the same number, as `same` decides. The types are small, so digit counts
// are tried in turn: 5 digits distinguish any two halves, 4 any two bfloat16.
template <class Same>
char* write_small_real(char* out, float number, int precision, Same&& same) noexcept {
  if (!std::isfinite(number) || precision > 0) {
    return write_real(out, number, precision);
  }
  double rounded = number;
  bool found = false;
  for (int digits = 0; digits < 6 && !found; ++digits) {
    char text[32];
    char* end = std::to_chars(text, text + sizeof text, number, std::chars_format::scientific, digits).ptr;
    std::from_chars(text, end, rounded);
    found = same(rounded);
    // At a power of two there is more room above than below, so the next number up may read back equal where the
    // nearest, a tie rounded down, does not. (Ending in 9, it would have fewer digits and would have been tried
    // before.)
    char* last = std::find(text, end, 'e') - 1;
    if (!found && *last != '9') {
      ++*last;
      std::from_chars(text, end, rounded);
      found = same(rounded);
    }
  }
  // The double nearest to so few digits has them as its own shortest text. The number's exact text is used if it is not
  // longer (65504, not 65500).
  char exact[32];
  const char* exact_end = std::to_chars(exact, exact + sizeof exact, number).ptr;
  char* end = std::to_chars(out, out + real_chars, rounded).ptr;
  return exact_end - exact <= end - out ? write_literal(out, {exact, exact_end}) : end;
}

template <class Real>
char* write_complex(char* out, std::complex<Real> number, int precision) noexcept {
  out = write_real(out, number.real(), precision);
  if (std::isnan(number.imag()) || !std::signbit(number.imag())) {
    *out++ = '+';
  }
  out = write_real(out, number.imag(), precision);
  *out++ = 'j';
  return out;
}

char* write_json_non_finite(char* out, double number, NonFinite style) noexcept {
  if (style == NonFinite::null) {
    return write_literal(out, "null");
  }
  if (std::isnan(number)) {
    return write_literal(out, "\"NaN\"");
  }
  return write_literal(out, number > 0 ? "\"Infinity\"" : "\"-Infinity\"");
}

template <class Number>
char* write_json_real(char* out, Number number, double as_double, int precision, NonFinite style) noexcept {
  if (!std::isfinite(as_double)) {
    return write_json_non_finite(out, as_double, style);
  }
  // Most readers take `-0` for the integer 0, and its sign is lost.
  return as_double == 0 && std::signbit(as_double) ? write_literal(out, "-0.0") : write_number(out, number, precision);
}

template <class Real>
char* write_json_complex(char* out, std::complex<Real> number, int precision, NonFinite style) noexcept {
  *out++ = '[';
  out = write_json_number(out, number.real(), precision, style);
  out = write_literal(out, ", ");
  out = write_json_number(out, number.imag(), precision, style);
  *out++ = ']';
  return out;
}

template <class Integer>
char* write_integer(char* out, Integer number) noexcept {
  return std::to_chars(out, out + real_chars, number).ptr;
}

}  // namespace

char* write_number(char* out, float number, int precision) noexcept { return write_real(out, number, precision); }
char* write_number(char* out, double number, int precision) noexcept { return write_real(out, number, precision); }
char* write_number(char* out, Half number, int precision) noexcept {
  return write_small_real(out, to_float(number), precision,
                          [number](double rounded) { return detail::half_bits(rounded) == number.bits; });
}
char* write_number(char* out, BFloat16 number, int precision) noexcept {
  return write_small_real(out, to_float(number), precision, [number](double rounded) {
    return detail::bfloat16_bits(static_cast<float>(rounded)) == number.bits;
  });
}
char* write_number(char* out, std::complex<float> number, int precision) noexcept {
  return write_complex(out, number, precision);
}
char* write_number(char* out, std::complex<double> number, int precision) noexcept {
  return write_complex(out, number, precision);
}
char* write_number(char* out, bool truth, int) noexcept { return write_literal(out, truth ? "true" : "false"); }
char* write_number(char* out, std::int8_t number, int) noexcept { return write_integer(out, int{number}); }
char* write_number(char* out, std::uint8_t number, int) noexcept { return write_integer(out, int{number}); }
char* write_number(char* out, std::int16_t number, int) noexcept { return write_integer(out, number); }
char* write_number(char* out, std::uint16_t number, int) noexcept { return write_integer(out, number); }
char* write_number(char* out, std::int32_t number, int) noexcept { return write_integer(out, number); }
char* write_number(char* out, std::uint32_t number, int) noexcept { return write_integer(out, number); }
char* write_number(char* out, std::int64_t number, int) noexcept { return write_integer(out, number); }
char* write_number(char* out, std::uint64_t number, int) noexcept { return write_integer(out, number); }

char* write_json_number(char* out, float number, int precision, NonFinite style) noexcept {
  return write_json_real(out, number, number, precision, style);
}
char* write_json_number(char* out, double number, int precision, NonFinite style) noexcept {
  return write_json_real(out, number, number, precision, style);
}
char* write_json_number(char* out, Half number, int precision, NonFinite style) noexcept {
  return write_json_real(out, number, to_float(number), precision, style);
}
char* write_json_number(char* out, BFloat16 number, int precision, NonFinite style) noexcept {
  return write_json_real(out, number, to_float(number), precision, style);
}
char* write_json_number(char* out, std::complex<float> number, int precision, NonFinite style) noexcept {
  return write_json_complex(out, number, precision, style);
}
char* write_json_number(char* out, std::complex<double> number, int precision, NonFinite style) noexcept {
  return write_json_complex(out, number, precision, style);
}

}  // namespace smd::tool
