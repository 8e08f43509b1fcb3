// SPDX-License-Identifier: Apache-2.0
#include "text/pattern_reader.hpp"

#include "text/utf8.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace smd::detail {

namespace {

bool is_octal(char c) noexcept { return c >= '0' && c <= '7'; }
bool is_hex(char c) noexcept { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

}  // namespace

std::string_view PatternReader::take(std::size_t bytes) noexcept {
  const std::string_view taken = rest_.substr(0, bytes);
  rest_.remove_prefix(taken.size());
  return taken;
}

void PatternReader::refuse(std::string text, std::string advice) const {
  throw Translation::Refusal{std::move(text), place(), std::move(advice)};
}

std::uint32_t PatternReader::character() {
  const CodePoint next = first_character(rest_);
  if (next.bytes == 0) {
    refuse("it is not UTF-8");
  }
  take(next.bytes);
  return next.value;
}

bool PatternReader::hex_follow(std::size_t from, std::size_t digits) const noexcept {
  const std::string_view text = rest_.substr(std::min(from, rest_.size()), digits);
  return text.size() == digits && std::all_of(text.begin(), text.end(), is_hex);
}

std::uint32_t PatternReader::number(std::size_t from, std::size_t digits, int base) {
  const std::string_view text = take(from + digits).substr(from);
  std::uint32_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, base);
  return value;
}

std::optional<std::uint32_t> PatternReader::escaped_character(bool in_class) {
  static constexpr std::string_view letters = "afnrtv";
  static constexpr std::string_view characters = "\a\f\n\r\t\v";
  const char kind = at(1);
  const std::size_t digits = kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
  if (digits != 0 && hex_follow(2, digits)) {
    return number(2, digits, 16);
  }
  if (const std::size_t known = letters.find(kind); known != letters.npos) {
    take(2);
    return static_cast<std::uint32_t>(characters[known]);
  }
  if (kind == 'b' && in_class) {
    take(2);
    return U'\b';
  }
  const std::string_view behind = rest_.substr(std::min<std::size_t>(1, rest_.size()), 3);
  const auto octals =
      static_cast<std::size_t>(std::find_if_not(behind.begin(), behind.end(), is_octal) - behind.begin());
  if (octals == 3 || (octals > 0 && (kind == '0' || in_class))) {
    if (octals == 3 && kind > '3') {
      refuse("an octal number is beyond \\377");
    }
    return number(1, octals, 8);
  }
  return std::nullopt;
}

}  // namespace smd::detail
