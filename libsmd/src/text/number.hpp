// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
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
  if (error == std::errc::result_out_of_range) {
    const std::size_t exponent = text.find_first_of("eE");
    const bool small = exponent != text.npos ? text.substr(exponent + 1).starts_with('-')
                                             : text.find_first_of("123456789") > text.find('.');
    number = small ? 0.0 : std::numeric_limits<double>::infinity();
    return text.starts_with('-') ? -number : number;
  }
  return number;
}

/// A number at the beginning of a text, by JSON's grammar, without the words for others.
struct LeadingNumber {
  double number = 0;
  std::optional<std::int64_t> whole = {};  ///< Of one that is written without point and exponent.
  std::size_t length = 0;
};
/// Returns nullopt if there is none, or it is beyond a double.
[[nodiscard]] inline std::optional<LeadingNumber> leading_number(std::string_view text) noexcept {
  const char* const first = text.data();
  const char* const last = first + text.size();
  const auto is_digit = [last](const char* at) { return at < last && *at >= '0' && *at <= '9'; };
  const char* const digits = first + (text.starts_with('-') ? 1 : 0);
  const char* at = digits;
  while (is_digit(at)) {
    ++at;
  }
  const bool point = at != last && *at == '.';
  if (at == digits || (*digits == '0' && at - digits > 1) || (point && !is_digit(at + 1))) {
    return std::nullopt;
  }
  LeadingNumber found;
  if (std::int64_t whole = 0;
      !point && (at == last || (*at | 0x20) != 'e') && std::from_chars(first, at, whole).ec == std::errc{}) {
    found = {.number = whole == 0 && digits != first ? -0.0 : static_cast<double>(whole),
             .whole = whole,
             .length = static_cast<std::size_t>(at - first)};
    return found;
  }
  const auto [end, error] = std::from_chars(first, last, found.number);
  found.length = static_cast<std::size_t>(end - first);
  return error == std::errc{} ? std::optional(found) : std::nullopt;
}

/// What a table or a log of text has in the place of a value.
struct LoggedText {
  bool logged = true;                 ///< False: nothing stands there, or `NA`, `N/A`, `null`, `None`, `-`.
  std::optional<double> number = {};  ///< `number_of`; True and False are 1 and 0.
};
[[nodiscard]] inline LoggedText logged_text(std::string_view text) noexcept {
  constexpr std::array<std::string_view, 6> nothing = {"", "-", "NA", "N/A", "null", "None"};
  if (text.size() <= 4 && std::find(nothing.begin(), nothing.end(), text) != nothing.end()) {
    return {.logged = false};
  }
  return {.number = text == "True" ? std::optional(1.0) : text == "False" ? std::optional(0.0) : number_of(text)};
}

}  // namespace smd::text
