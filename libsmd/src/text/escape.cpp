// SPDX-License-Identifier: Apache-2.0
#include "text/escape.hpp"

#include "text/utf8.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <iterator>

namespace smd::detail {
namespace {

/// Harmful characters outside ASCII: C1 controls, direction marks and overrides, line separators, the byte order mark.
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

std::string printable(std::string_view text, std::size_t most) {
  if (text.size() > most) {
    return printable(text::excerpt(text, most), std::string_view::npos);
  }
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
