// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace smd::text {

/// What a message quotes of one name, value or pattern, at most.
inline constexpr std::size_t quoted_bytes = 400;

/// The beginning of a text, in whole characters if it is UTF-8: `most` bytes at most.
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

/// A text as a message quotes it: whole up to `most` bytes, else its beginning and how long it is:
/// `layer1/layer1/lay… (65536 bytes)`. Not escaped.
[[nodiscard]] inline std::string excerpt(std::string_view text, std::size_t most = quoted_bytes) {
  if (text.size() <= most) {
    return std::string(text);
  }
  return std::string(beginning(text, most)) + "… (" + std::to_string(text.size()) + " bytes)";
}

}  // namespace smd::text
