// SPDX-License-Identifier: Apache-2.0
#include "base/escape.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <iterator>

namespace smd::detail {
namespace {

struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 0;  // 0: not well-formed
};

/// The first character of a text that is not empty (Unicode, table 3-7).
CodePoint first_character(std::string_view text) noexcept {
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

/// Harmful outside ASCII: C1 controls, marks and overrides of direction, line separators, the byte order mark.
bool is_hidden(char32_t c) noexcept {
  return (c >= 0x80 && c <= 0x9F) || c == 0x61C || c == 0x200E || c == 0x200F || (c >= 0x2028 && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069) || c == 0xFEFF;
}

}  // namespace

bool valid_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const CodePoint c = first_character(text);
    if (c.bytes == 0) {
      return false;
    }
    text.remove_prefix(c.bytes);
  }
  return true;
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const CodePoint c = first_character(text);
    if (c.bytes == 0 || c.value < 0x20 || c.value == 0x7F) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(text.front()));
      text.remove_prefix(1);
      continue;
    }
    if (is_hidden(c.value)) {
      fmt::format_to(std::back_inserter(out), "\\u{{{:x}}}", static_cast<std::uint32_t>(c.value));
    } else {
      out.append(text.substr(0, c.bytes));
    }
    text.remove_prefix(c.bytes);
  }
  return out;
}

}  // namespace smd::detail
