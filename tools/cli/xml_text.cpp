// SPDX-License-Identifier: Apache-2.0
#include "cli/xml_text.hpp"

#include "cli/text.hpp"

namespace smd::tool {

std::string displayable(std::string_view text) {
  std::string shown = printable(text);
  constexpr std::string_view before_last = "\xEF\xBF";  // of U+FFFE and U+FFFF
  for (std::size_t at = shown.find(before_last); at != std::string::npos; at = shown.find(before_last, at + 1)) {
    const char last = shown[at + before_last.size()];
    if (last == '\xBE' || last == '\xBF') {
      shown.replace(at, before_last.size() + 1, last == '\xBE' ? "\\u{fffe}" : "\\u{ffff}");
    }
  }
  return shown;
}

void append_xml(std::string& out, std::string_view text) {
  for (const char byte : displayable(text)) {
    switch (byte) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += byte;
    }
  }
}

std::string xml(std::string_view text) {
  std::string out;
  append_xml(out, text);
  return out;
}

}  // namespace smd::tool
