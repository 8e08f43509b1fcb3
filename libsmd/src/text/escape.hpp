// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/locale/utf.hpp>

#include <cstddef>
#include <string>
#include <string_view>

/// UTF-8, and names, values and patterns as messages show them.
namespace smd::text {

/// Longest part of one name, value or pattern that a message quotes.
inline constexpr std::size_t quoted_bytes = 400;

/// Returns the beginning of a text, at most `most` bytes, in whole characters if it is UTF-8.
[[nodiscard]] constexpr std::string_view beginning(std::string_view text, std::size_t most) noexcept {
  if (text.size() <= most) {
    return text;
  }
  constexpr std::size_t longest_character = 4;
  std::size_t end = most;
  while (end > 0 && most - end < longest_character && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) {
    --end;
  }
  return text.substr(0, end);
}

/// Returns a text as a message quotes it: whole up to `most` bytes, otherwise its beginning and its length:
/// `layer1/layer1/lay… (65536 bytes)`. Not escaped.
[[nodiscard]] inline std::string excerpt(std::string_view text, std::size_t most = quoted_bytes) {
  if (text.size() <= most) {
    return std::string(text);
  }
  return std::string(beginning(text, most)) + "… (" + std::to_string(text.size()) + " bytes)";
}

}  // namespace smd::text

namespace smd::detail {

/// A character of UTF-8 text and its size in bytes. If it is not well-formed, its first byte, and `valid` is false.
struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 1;
  bool valid = false;
};

/// Returns the first character of a text (Unicode, table 3-7). Precondition: the text is not empty.
[[nodiscard]] inline CodePoint first_character(std::string_view text) noexcept {
  namespace utf = boost::locale::utf;
  const char* end = text.data();
  const utf::code_point value = utf::utf_traits<char>::decode(end, text.data() + text.size());
  return utf::is_valid_codepoint(value) ? CodePoint{value, static_cast<std::size_t>(end - text.data()), true}
                                        : CodePoint{static_cast<unsigned char>(text.front())};
}

/// Returns true if `text` is well-formed UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.
[[nodiscard]] bool valid_utf8(std::string_view text) noexcept;

/// Appends a character in UTF-8.
void append_utf8(std::string& out, char32_t point);

/// Returns `text` in a form fit for a message: ASCII control characters and bytes that are not UTF-8 become `\xNN`;
/// other control characters, line separators and characters that change the writing direction become `\u{N}`. A text
/// longer than `most` bytes is shortened to its beginning and its length (`text::excerpt`).
[[nodiscard]] std::string printable(std::string_view text, std::size_t most = text::quoted_bytes);

/// Returns `'TEXT'` for a message: a name or path, as `printable` shows it.
[[nodiscard]] std::string in_quotes(std::string_view text);

/// Returns a text with a backslash before each of these characters.
[[nodiscard]] std::string with_backslashes(std::string_view text, std::string_view characters);

/// Appends a text in a form that is safe for a terminal: ASCII control characters and bytes that are not UTF-8 become
/// `\xNN`, other characters that upset a terminal `\u{N}`; with `ascii`, so does everything beyond ASCII. `printable`
/// is the same for messages, which quote no more than the beginning of a long text.
void append_printable(std::string& out, std::string_view text, bool ascii = false);

/// Returns true for control characters, and for characters that hide or change the rest of a line: bidirectional
/// controls, separators, invisible marks, tags.
[[nodiscard]] bool upsets_terminal(char32_t point) noexcept;

}  // namespace smd::detail
