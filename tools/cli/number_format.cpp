// SPDX-License-Identifier: Apache-2.0
#include "cli/number_format.hpp"

#include <smd/elements.hpp>

#include "text/half.hpp"
#include "text/number.hpp"

#include <algorithm>
#include <cstring>

namespace smd::tool {

namespace {

constexpr std::size_t real_chars = 128;  // sign, 99 digits, point, leading zeros, exponent

char* write_literal(char* out, std::string_view text) noexcept {
  std::memcpy(out, text.data(), text.size());
  return out + text.size();
}

template <class Number>
char* write_real(char* out, Number number, int precision) noexcept {
  if (!std::isfinite(number)) {
    return write_literal(out, std::isnan(number) ? "nan" : number > 0 ? "inf" : "-inf");
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
char* write_number(char* out, bool truth, int) noexcept { return write_literal(out, truth ? "true" : "false"); }

std::string whole_number_text(double number, int precision) {
  const auto whole = text::whole_of(number);
  return whole ? std::to_string(*whole) : number_text(number, precision);
}

char* make_json(char* begin, char* end, NonFinite style) noexcept {
  const std::string_view text(begin, end);
  if (text == "-0") {  // most readers take it for the integer 0, and its sign is lost
    return write_literal(begin, "-0.0");
  }
  const bool nan = text == "nan";
  const bool positive = text == "inf";
  if (!nan && !positive && text != "-inf") {
    return end;
  }
  return write_literal(begin, style == NonFinite::null ? "null"
                              : nan                    ? "\"NaN\""
                              : positive               ? "\"Infinity\""
                                                       : "\"-Infinity\"");
}

}  // namespace smd::tool
