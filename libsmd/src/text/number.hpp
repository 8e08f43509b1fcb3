// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "text/ascii.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>

namespace smd::text {

/// Returns the number that a text is, as `std::from_chars` reads it, also with a leading `+`: `1.`, `.5`, `nan` and
/// `inf` in all spellings. Too large is infinity, too small zero. Nullopt for any other text.
[[nodiscard]] inline std::optional<double> number_of(std::string_view text) noexcept {
  if (text.starts_with('+') && !text.starts_with("+-")) {
    text.remove_prefix(1);
  }
  double number = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  if (end != last || error == std::errc::invalid_argument) {
    return std::nullopt;
  }
  if (error == std::errc::result_out_of_range) {  // the place of the first digit other than 0 tells the side
    constexpr std::int64_t most = std::int64_t{1} << 40;
    const std::size_t end_of_digits = std::min(text.find_first_of("eE"), text.size());
    const std::string_view digits = text.substr(0, end_of_digits);
    std::string_view written = text.substr(std::min(end_of_digits + 1, text.size()));
    written.remove_prefix(written.starts_with('+') ? 1 : 0);
    std::int64_t power = written.empty() ? 0 : written.starts_with('-') ? -most : most;  // if no integer can hold it
    std::from_chars(written.data(), last, power);
    const auto point = static_cast<std::int64_t>(std::min(digits.find('.'), digits.size()));
    const auto first = static_cast<std::int64_t>(digits.find_first_of("123456789"));
    number = point - first + std::clamp(power, -most, most) < 0 ? 0.0 : std::numeric_limits<double>::infinity();
    return text.starts_with('-') ? -number : number;
  }
  return number;
}

/// Returns the number that a text is, as `std::from_chars` reads it; nullopt for any other, and beyond its range.
template <class Number>
[[nodiscard]] std::optional<Number> parsed(std::string_view text) noexcept {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

constexpr double most_exact_whole = 9007199254740992;  // 2^53: doubles have all whole numbers up to here

/// Returns a whole number that a double has exactly, and that no other is rounded to; nullopt for any other.
[[nodiscard]] inline std::optional<std::int64_t> whole_of(double number) noexcept {
  if (!(number > -most_exact_whole && number < most_exact_whole)) {
    return std::nullopt;
  }
  const auto whole = static_cast<std::int64_t>(number);
  return static_cast<double>(whole) == number ? std::optional(whole) : std::nullopt;
}

/// Returns the number that a word stands for which Python writes where JSON has none: `NaN`, `Infinity`, `-Infinity`.
[[nodiscard]] inline std::optional<double> non_finite_of(std::string_view word) noexcept {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return word == "NaN"         ? std::optional(std::numeric_limits<double>::quiet_NaN())
         : word == "Infinity"  ? std::optional(infinity)
         : word == "-Infinity" ? std::optional(-infinity)
                               : std::nullopt;
}

/// The opposite: the word for a number that is not finite.
[[nodiscard]] inline std::string_view word_of_non_finite(double number) noexcept {
  return std::isnan(number) ? "NaN" : number > 0 ? "Infinity" : "-Infinity";
}

/// As `non_finite_of`, of a text in quotes: also `nan`, `inf` and `infinity` in any case, with a sign or not. Loggers
/// write them where they make a text of each value.
[[nodiscard]] inline std::optional<double> quoted_non_finite_of(std::string_view word) noexcept {
  const bool may_be_one = word.find_first_not_of("+-aAfFiInNtTyY") == word.npos;
  return may_be_one ? number_of(word) : std::nullopt;
}

/// Returns the number that C libraries of Microsoft write as `1.#INF`, `-1.#IND`, `1.#QNAN`, with zeros behind it, or
/// cut off and rounded, as `1.#J`.
[[nodiscard]] inline std::optional<double> microsoft_non_finite_of(std::string_view word) noexcept {
  const bool negative = word.starts_with('-');
  word.remove_prefix(negative || word.starts_with('+') ? 1 : 0);
  constexpr std::string_view mark = "1.#";
  if (!word.starts_with(mark) || word.size() == mark.size() ||
      word.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0e+", mark.size()) != word.npos) {
    return std::nullopt;
  }
  const double number = word.substr(mark.size()).starts_with("INF") ? std::numeric_limits<double>::infinity()
                                                                    : std::numeric_limits<double>::quiet_NaN();
  return negative ? -number : number;
}

/// A number, rounded to a double, and exact if it is a whole number of 64 bits.
struct JsonNumber {
  double real = 0;
  std::optional<std::int64_t> integer;   ///< Written without fraction and exponent.
  std::optional<std::uint64_t> natural;  ///< As `integer`.
};

/// Reads the digits at the beginning of a number, without its sign. Returns their end; null if the text begins with no
/// number in JSON's grammar, which is narrower than that of `std::from_chars`. `value`: theirs, if 64 bits hold it.
[[nodiscard]] inline const char* read_json_digits(const char* first, const char* last, std::uint64_t& value) noexcept {
  const auto digit_at = [last](const char* at) { return at != last && text::is_digit(*at); };
  const char* at = first;
  for (value = 0; digit_at(at); ++at) {
    value = value * 10 + static_cast<unsigned>(*at - '0');
  }
  const bool none = at == first || (*first == '0' && at - first > 1) || (at != last && *at == '.' && !digit_at(at + 1));
  return none ? nullptr : at;
}

constexpr std::ptrdiff_t exact_digits = 15;  // a double has all whole numbers of so many

/// Reads the number at the beginning of a text, by JSON's grammar, without the words for others. Returns its end; null
/// if it begins with no number, or with one beyond the range of a double. `is_whole`: it has no fraction and no
/// exponent.
[[nodiscard]] inline const char* read_json_real(const char* first, const char* last, double& real,
                                                bool& is_whole) noexcept {
  const bool negative = first != last && *first == '-';
  const char* const digits = negative ? first + 1 : first;
  std::uint64_t value = 0;
  const char* const after = read_json_digits(digits, last, value);
  if (after == nullptr) {
    return nullptr;
  }
  is_whole = after == last || (*after != '.' && *after != 'e' && *after != 'E');
  if (is_whole && after - digits <= exact_digits) {
    const auto whole = static_cast<std::int64_t>(value);
    real = negative ? -static_cast<double>(whole) : static_cast<double>(whole);
    return after;
  }
  const auto [end, error] = std::from_chars(first, last, real);
  return error == std::errc{} ? end : nullptr;
}

/// As above. `natural` is left as it is.
[[nodiscard]] inline const char* read_json_number(const char* first, const char* last, JsonNumber& number) noexcept {
  bool is_whole = false;
  const char* const end = read_json_real(first, last, number.real, is_whole);
  number.integer.reset();
  if (end != nullptr && is_whole && end - first <= exact_digits) {
    number.integer = static_cast<std::int64_t>(number.real);
  } else if (std::int64_t whole = 0;
             end != nullptr && is_whole && std::from_chars(first, end, whole).ec == std::errc{}) {
    number.integer = whole;
  }
  return end;
}

/// What a table or a log of text has in the place of a value.
struct LoggedText {
  bool logged = true;  ///< False: nothing stands there, or `NA`, `N/A`, `null`, `None`, `-`.
  /// `number_of`, `microsoft_non_finite_of`; True and False are 1 and 0.
  std::optional<double> number = {};
};
[[nodiscard]] inline LoggedText logged_text(std::string_view text) noexcept {
  constexpr std::array<std::string_view, 6> nothing = {"", "-", "NA", "N/A", "null", "None"};
  if (text.size() <= 4 && std::find(nothing.begin(), nothing.end(), text) != nothing.end()) {
    return {.logged = false};
  }
  const std::optional<double> number = text == "True"    ? std::optional(1.0)
                                       : text == "False" ? std::optional(0.0)
                                                         : number_of(text);
  return {.number = number ? number : microsoft_non_finite_of(text)};
}

}  // namespace smd::text
