// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

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
