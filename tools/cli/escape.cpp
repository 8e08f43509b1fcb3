// SPDX-License-Identifier: Apache-2.0
#include "cli/escape.hpp"

#include "cli/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace smd::tool {

namespace {

// A UTF-16 code unit, as JSON escapes it.
void append_unit(std::string& out, char32_t unit) { out += fmt::format("\\u{:04x}", static_cast<unsigned>(unit)); }

}  // namespace

void append_replaced(std::string& out, std::string_view text,
                     std::initializer_list<std::pair<char, std::string_view>> replacements) {
  for (const char byte : text) {
    const auto* const found = std::ranges::find(replacements, byte, &std::pair<char, std::string_view>::first);
    out += found == replacements.end() ? std::string_view(&byte, 1) : found->second;
  }
}

bool tsv_needs_escapes(std::string_view text) noexcept {
  return std::ranges::any_of(text, [](unsigned char byte) { return byte < ' ' || byte == '\\'; });
}

void append_tsv(std::string& out, std::string_view text) {
  append_replaced(out, text, {{'\t', "\\t"}, {'\n', "\\n"}, {'\r', "\\r"}, {'\\', "\\\\"}});
}

void append_tsv_shown(std::string& out, std::string_view text, bool ascii) {
  std::string escaped;
  append_tsv(escaped, text);
  append_printable(out, escaped, ascii);
}

bool csv_needs_quotes(std::string_view text) noexcept {
  const auto special = [](char byte) { return byte == ',' || byte == '"' || byte == '\r' || byte == '\n'; };
  return text.empty() || std::ranges::any_of(text, special);
}

void append_csv(std::string& out, std::string_view text) {
  if (!csv_needs_quotes(text)) {
    out += text;
    return;
  }
  out += '"';
  append_replaced(out, text, {{'"', "\"\""}});
  out += '"';
}

void append_csv_shown(std::string& out, std::string_view text, bool ascii) { append_csv(out, printable(text, ascii)); }

bool append_json(std::string& out, std::string_view text) {
  constexpr std::string_view with_letter = "\"\\\n\t\r";
  constexpr std::string_view letters = "\"\\ntr";
  const auto is_plain = [](unsigned char byte) { return byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\'; };
  bool valid = true;
  out += '"';
  while (!text.empty()) {
    const auto* const special = std::ranges::find_if_not(text, is_plain);
    out.append(text.begin(), special);
    text.remove_prefix(static_cast<std::size_t>(special - text.begin()));
    if (text.empty()) {
      break;
    }
    const CodePoint point = first_character(text);
    if (!point.valid) {
      out += "\xEF\xBF\xBD";
      valid = false;
    } else if (const std::size_t which = with_letter.find(text.front()); which != with_letter.npos) {
      out += '\\';
      out += letters[which];
    } else if (point.value < 0x20) {
      append_unit(out, point.value);
    } else {
      out += text.substr(0, point.bytes);
    }
    text.remove_prefix(point.bytes);
  }
  out += '"';
  return valid;
}

void append_json_shown(std::string& out, std::string_view text) {
  while (!text.empty()) {
    const CodePoint point = first_character(text);
    if (!point.valid || point.value < 0x7F || !upsets_terminal(point.value)) {
      out += text.substr(0, point.bytes);
    } else if (point.value < 0x10000) {
      append_unit(out, point.value);
    } else {  // a surrogate pair
      append_unit(out, 0xD800 + ((point.value - 0x10000) >> 10));
      append_unit(out, 0xDC00 + ((point.value - 0x10000) & 0x3FFU));
    }
    text.remove_prefix(point.bytes);
  }
}

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

std::string xml(std::string_view text) {
  std::string out;
  append_replaced(out, displayable(text), {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}});
  return out;
}

}  // namespace smd::tool
