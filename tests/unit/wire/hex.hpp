// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace smd::test {

/// Returns the bytes for hexadecimal digits; ignores blanks.
inline std::string from_hex(std::string_view text) {
  std::string bytes;
  unsigned value = 0;
  bool half = false;
  for (const char c : text) {
    if (c == ' ') {
      continue;
    }
    value = value << 4 | static_cast<unsigned>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    if (half) {
      bytes.push_back(static_cast<char>(value & 0xFF));
    }
    half = !half;
  }
  return bytes;
}

inline std::string to_hex(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte b : bytes) {
    text += "0123456789abcdef"[std::to_integer<unsigned>(b) >> 4];
    text += "0123456789abcdef"[std::to_integer<unsigned>(b) & 15];
  }
  return text;
}

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace smd::test
