// SPDX-License-Identifier: Apache-2.0
#include "text/json_scanner.hpp"

#include "text/utf8.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace smd::text {

namespace {

constexpr bool is_json_digit(char c) noexcept { return c >= '0' && c <= '9'; }

void append_code_point(std::string& out, std::uint32_t code) {
  const auto byte = [&](std::uint32_t value) { out += static_cast<char>(value); };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xC0 | code >> 6);
    byte(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    byte(0xE0 | code >> 12);
    byte(0x80 | (code >> 6 & 0x3F));
    byte(0x80 | (code & 0x3F));
  } else {
    byte(0xF0 | code >> 18);
    byte(0x80 | (code >> 12 & 0x3F));
    byte(0x80 | (code >> 6 & 0x3F));
    byte(0x80 | (code & 0x3F));
  }
}

/// Returns where the number that begins at `begin` ends by JSON's grammar, or `begin` if there is no number. Sets
/// `whole` to whether it has neither fraction nor exponent.
std::size_t end_of_number(std::string_view text, std::size_t begin, bool& whole) noexcept {
  std::size_t at = begin;
  const auto peek = [&] { return at < text.size() ? text[at] : '\0'; };
  const auto digits = [&] {
    const std::size_t first = at;
    while (is_json_digit(peek())) {
      ++at;
    }
    return at > first;
  };
  at += peek() == '-' ? 1 : 0;
  if (peek() == '0') {
    ++at;
  } else if (!digits()) {
    return begin;
  }
  whole = true;
  if (peek() == '.') {
    whole = false;
    ++at;
    if (!digits()) {
      return begin;
    }
  }
  if (peek() == 'e' || peek() == 'E') {
    whole = false;
    ++at;
    at += peek() == '+' || peek() == '-' ? 1 : 0;
    if (!digits()) {
      return begin;
    }
  }
  return at;
}

/// Returns where the plain part of a string from `at` on ends: at a quote, a backslash, a control character or the end
/// of the text.
std::size_t end_of_plain(std::string_view text, std::size_t at) noexcept {
  using Bytes = unsigned char __attribute__((vector_size(16)));
  for (Bytes bytes; text.size() - at >= sizeof bytes; at += sizeof bytes) {
    std::memcpy(&bytes, text.data() + at, sizeof bytes);
    const auto found = (bytes == '"') | (bytes == '\\') | (bytes < 0x20);
    std::uint64_t halves[2];
    static_assert(sizeof halves == sizeof found);
    std::memcpy(halves, &found, sizeof halves);
    if ((halves[0] | halves[1]) != 0) {
      if constexpr (std::endian::native == std::endian::little) {
        const std::size_t half = halves[0] != 0 ? 0 : 1;
        return at + half * sizeof halves[0] + static_cast<std::size_t>(std::countr_zero(halves[half])) / 8;
      }
      break;
    }
  }
  while (at < text.size() && text[at] != '"' && text[at] != '\\' && static_cast<unsigned char>(text[at]) >= 0x20) {
    ++at;
  }
  return at;
}

}  // namespace

std::size_t first_bad_utf8(std::string_view text) noexcept {
  std::size_t at = 0;
  while (at < text.size()) {
    std::uint64_t words[4];
    if (text.size() - at >= sizeof words) {
      std::memcpy(words, text.data() + at, sizeof words);
      if (((words[0] | words[1] | words[2] | words[3]) & 0x8080808080808080ULL) == 0) {
        at += sizeof words;
        continue;
      }
    }
    const std::size_t bytes = detail::first_character(text.substr(at)).bytes;
    if (bytes == 0) {
      return at;
    }
    at += bytes;
  }
  return at;
}

bool JsonScanner::fail(const char* why) noexcept {
  if (error_ == nullptr) {
    error_ = why;
  }
  return false;
}

char JsonScanner::after_some_space() noexcept {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r')) {
    ++at_;
  }
  return at_ < text_.size() ? text_[at_] : '\0';
}

JsonKind JsonScanner::peek() noexcept {
  if (failed()) {
    return JsonKind::nothing;
  }
  const char c = after_space();
  switch (c) {
    case '{':
      return JsonKind::object;
    case '[':
      return JsonKind::array;
    case '"':
      return JsonKind::string;
    case 't':
    case 'f':
      return JsonKind::boolean;
    case 'n':
      return JsonKind::null;
    case 'N':
    case 'I':
      return non_finite_ ? JsonKind::number : JsonKind::nothing;
    default:
      return c == '-' || is_json_digit(c) ? JsonKind::number : JsonKind::nothing;
  }
}

bool JsonScanner::enter(char bracket, const char* why) {
  if (failed() || after_space() != bracket) {
    return fail(why);
  }
  if (depth_ == limits::json_depth) {
    return fail("nested too deep");
  }
  ++depth_;
  ++at_;
  fresh_ = true;
  return true;
}

void JsonScanner::leave() noexcept {
  ++at_;
  --depth_;
  fresh_ = false;
}

/// Advances to the next element within brackets; false at the closing bracket.
bool JsonScanner::next(char bracket, const char* why) {
  if (failed()) {
    return false;
  }
  const char c = after_space();
  if (c == bracket) {
    leave();
    return false;
  }
  if (!fresh_) {
    if (c != ',') {
      return fail(why);
    }
    ++at_;
  }
  fresh_ = false;
  return true;
}

bool JsonScanner::next_member(std::string_view& key) {
  if (!next('}', "expected ',' or '}'")) {
    return false;
  }
  if (after_space() != '"') {
    return fail("expected a name in quotes");
  }
  if (!string(key)) {
    return false;
  }
  if (after_space() != ':') {
    return fail("expected ':'");
  }
  ++at_;
  return true;
}

bool JsonScanner::next_item() { return next(']', "expected ',' or ']'"); }

bool JsonScanner::string(std::string_view& value) {
  if (failed() || after_space() != '"') {
    return fail("expected a string");
  }
  const std::size_t begin = ++at_;
  at_ = end_of_plain(text_, at_);
  if (at_ == text_.size()) {
    return fail("the text ends inside a string");
  }
  if (text_[at_] == '"') {
    value = text_.substr(begin, at_ - begin);
    ++at_;
    return true;
  }
  if (text_[at_] != '\\') {
    return fail("a control character in a string");
  }
  if (!unescape(begin)) {
    return false;
  }
  value = unescaped_;
  return true;
}

/// Reads the rest of a string from its first escape on. `begin`: where the string begins.
bool JsonScanner::unescape(std::size_t begin) {
  unescaped_.assign(text_.substr(begin, at_ - begin));
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '"') {
      ++at_;
      return true;
    }
    if (static_cast<unsigned char>(c) < 0x20) {
      return fail("a control character in a string");
    }
    if (c != '\\') {
      const std::size_t end = end_of_plain(text_, at_);
      unescaped_.append(text_, at_, end - at_);
      at_ = end;
    } else if (!unescape_character()) {
      return false;
    }
  }
  return fail("the text ends inside a string");
}

bool JsonScanner::unescape_character() {
  constexpr std::string_view letters = "\"\\/bfnrt";
  constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
  const char letter = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
  if (letter != 'u') {
    const std::size_t which = letter == '\0' ? letters.npos : letters.find(letter);
    if (which == letters.npos) {
      return fail("an unknown escape in a string");
    }
    unescaped_ += meanings[which];
    at_ += 2;
    return true;
  }
  std::uint32_t code = 0;
  if (!code_unit(code)) {
    return false;
  }
  if (code >= 0xD800 && code < 0xE000) {  // a pair of surrogates is one character
    std::uint32_t low = 0;
    if (code >= 0xDC00 || text_.substr(at_, 2) != "\\u" || !code_unit(low) || low < 0xDC00 || low >= 0xE000) {
      return fail("half a surrogate pair in a string");
    }
    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
  }
  append_code_point(unescaped_, code);
  return true;
}

/// Reads `\uXXXX`.
bool JsonScanner::code_unit(std::uint32_t& unit) noexcept {
  constexpr std::size_t digits = 4;
  const std::string_view hex = text_.substr(std::min(at_ + 2, text_.size()), digits);
  const auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), unit, 16);
  if (error != std::errc() || hex.size() != digits || end != hex.data() + digits) {
    return fail("an escape without four hexadecimal digits");
  }
  at_ += 2 + digits;
  return true;
}

bool JsonScanner::word(std::string_view word) noexcept {
  if (text_.substr(at_, word.size()) != word) {
    return false;
  }
  at_ += word.size();
  return true;
}

/// Reads one of the numbers that only Python writes. Nullopt if none is next.
std::optional<double> JsonScanner::non_finite_word() noexcept {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return !non_finite_        ? std::nullopt
         : word("NaN")       ? std::optional(std::numeric_limits<double>::quiet_NaN())
         : word("Infinity")  ? std::optional(infinity)
         : word("-Infinity") ? std::optional(-infinity)
                             : std::nullopt;
}

/// Reads a natural number of few digits, as most are. Returns false if something else is next.
bool JsonScanner::short_natural(std::uint64_t& value) noexcept {
  constexpr std::size_t most_digits = 18;
  std::size_t at = at_;
  value = 0;
  for (; at < text_.size() && is_json_digit(text_[at]) && at - at_ < most_digits; ++at) {
    value = value * 10 + static_cast<std::uint64_t>(text_[at] - '0');
  }
  const char after = at < text_.size() ? text_[at] : '\0';
  if (at == at_ || (text_[at_] == '0' && at - at_ > 1) || is_json_digit(after) || after == '.' || after == 'e' ||
      after == 'E') {
    return false;
  }
  at_ = at;
  return true;
}

bool JsonScanner::number(JsonNumber& value) {
  if (peek() != JsonKind::number) {
    return fail("expected a number");
  }
  value = {};
  if (short_natural(value.natural)) {
    value.is_natural = true;
    value.real = static_cast<double>(value.natural);
    return true;
  }
  value.natural = 0;
  if (const auto real = non_finite_word()) {
    value.real = *real;
    return true;
  }
  bool whole = false;
  const std::size_t end = end_of_number(text_, at_, whole);
  if (end == at_) {
    return fail("not a number");
  }
  const char* const first = text_.data() + at_;
  const char* const last = text_.data() + end;
  if (whole && *first != '-') {
    value.is_natural = std::from_chars(first, last, value.natural).ec == std::errc();
  }
  const std::errc range = std::from_chars(first, last, value.real).ec;
  if (range == std::errc::result_out_of_range) {
    value.real = std::strtod(std::string(first, last).c_str(), nullptr);  // infinity or 0, as Python reads it
  }
  at_ = end;
  return true;
}

/// Skips a value that is neither an object nor an array.
bool JsonScanner::skip_simple(JsonKind kind) {
  std::string_view text;
  bool whole = false;
  switch (kind) {
    case JsonKind::string:
      return string(text);
    case JsonKind::number:
      if (std::uint64_t natural = 0; !short_natural(natural) && !non_finite_word()) {
        const std::size_t end = end_of_number(text_, at_, whole);
        if (end == at_) {
          return fail("not a number");
        }
        at_ = end;
      }
      return true;
    case JsonKind::boolean:
    case JsonKind::null:
      return word("true") || word("false") || word("null") || fail("not a value");
    case JsonKind::object:
    case JsonKind::array:
    case JsonKind::nothing:
      break;
  }
  return fail(at_ == text_.size() ? "the text ends too soon" : "not a value");
}

bool JsonScanner::skip() {
  static_assert(limits::json_depth <= 64);
  const std::size_t outside = depth_;
  std::uint64_t objects = 0;  // a bit for each bracket that was entered, the innermost lowest: 1 for an object
  while (true) {
    const JsonKind kind = peek();
    if (kind == JsonKind::object || kind == JsonKind::array) {
      if (!(kind == JsonKind::object ? enter_object() : enter_array())) {
        return false;
      }
      objects = objects << 1 | (kind == JsonKind::object ? 1 : 0);
    } else if (!skip_simple(kind)) {
      return false;
    }
    for (std::string_view key;; objects >>= 1) {  // advances to the next value, leaving brackets that end
      if (depth_ == outside) {
        return true;
      }
      if ((objects & 1) != 0 ? next_member(key) : next_item()) {
        break;
      }
      if (failed()) {
        return false;
      }
    }
  }
}

bool JsonScanner::finish() {
  if (failed()) {
    return false;
  }
  (void)after_space();
  return at_ == text_.size() || fail("more text follows");
}

}  // namespace smd::text
