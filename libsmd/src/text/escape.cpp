// SPDX-License-Identifier: Apache-2.0
#include "text/escape.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <iterator>

namespace smd::detail {
namespace {

bool is_deceptive(char32_t point) noexcept {
  return point == 0x61C || point == 0x180E || (point >= 0x200B && point <= 0x200F) ||
         (point >= 0x2028 && point <= 0x202E) || (point >= 0x2060 && point <= 0x206F) || point == 0xFEFF ||
         (point >= 0xFFF9 && point <= 0xFFFB) || (point >= 0xE0000 && point <= 0xE007F);
}

}  // namespace

void append_utf8(std::string& out, char32_t point) {
  boost::locale::utf::utf_traits<char>::encode(point, std::back_inserter(out));
}

bool valid_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const CodePoint c = first_character(text);
    if (!c.valid) {
      return false;
    }
    text.remove_prefix(c.bytes);
  }
  return true;
}

bool upsets_terminal(char32_t point) noexcept {
  return point < 0x20 || (point >= 0x7F && point < 0xA0) || is_deceptive(point);
}

std::string with_backslashes(std::string_view text, std::string_view characters) {
  std::string out;
  for (const char c : text) {
    if (characters.find(c) != std::string_view::npos) {
      out += '\\';
    }
    out += c;
  }
  return out;
}

void append_printable(std::string& out, std::string_view text, bool ascii) {
  while (!text.empty()) {
    const CodePoint c = first_character(text);
    if (!c.valid || c.value < 0x20 || c.value == 0x7F) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<std::uint32_t>(c.value));
    } else if (upsets_terminal(c.value) || (ascii && c.value >= 0x80)) {
      fmt::format_to(std::back_inserter(out), "\\u{{{:x}}}", static_cast<std::uint32_t>(c.value));
    } else {
      out += text.substr(0, c.bytes);
    }
    text.remove_prefix(c.bytes);
  }
}

std::string printable(std::string_view text, std::size_t most) {
  std::string out;
  append_printable(out, text::excerpt(text, most));
  return out;
}

std::string in_quotes(std::string_view text) { return "'" + printable(text) + "'"; }

}  // namespace smd::detail
