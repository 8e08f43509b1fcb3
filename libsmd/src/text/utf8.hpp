// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace smd::detail {

/// A character of UTF-8 text and its size in bytes; 0 bytes if it is not well-formed.
struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 0;
};

/// Returns the first character of a text (Unicode, table 3-7). Precondition: the text is not empty.
[[nodiscard]] inline CodePoint first_character(std::string_view text) noexcept {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) {
    return {lead, 1};
  }
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) {
    return {};
  }
  char32_t value = lead & (0x7Fu >> bytes);
  for (std::size_t at = 1; at < bytes; ++at) {
    if ((byte(at) & 0xC0) != 0x80) {
      return {};
    }
    value = value << 6 | (byte(at) & 0x3Fu);
  }
  const bool overlong = value < (bytes == 4 ? 0x10000u : bytes == 3 ? 0x800u : 0x80u);
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  return overlong || surrogate || value > 0x10FFFF ? CodePoint{} : CodePoint{value, bytes};
}

}  // namespace smd::detail
