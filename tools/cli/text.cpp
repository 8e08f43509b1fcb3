// SPDX-License-Identifier: Apache-2.0
#include "cli/text.hpp"

#include "cli/escape.hpp"
#include "cli/mapped.hpp"
#include "text/ascii.hpp"

#include <locale.h>
#include <wchar.h>

#include <algorithm>

namespace smd::tool {

std::string printable(std::string_view text, bool ascii) {
  std::string out;
  append_printable(out, text, ascii);
  return out;
}

std::size_t display_width(std::string_view text) noexcept {
  // The C library knows the widths of all characters in a locale of UTF-8 alone. If the system has none, each takes
  // one.
  static const locale_t unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  std::size_t width = 0;
  while (!text.empty()) {
    const CodePoint point = first_character(text);
    text.remove_prefix(point.bytes);
    int columns = 1;
    if (point.value >= 0x300 && point.valid && unicode != nullptr) {
      const locale_t before = uselocale(unicode);
      columns = wcwidth(static_cast<wchar_t>(point.value));
      uselocale(before);
    }
    width += columns < 0 ? 1U : static_cast<std::size_t>(columns);
  }
  return width;
}

std::string single_quoted(std::string_view name) { return "'" + text::excerpt(name) + "'"; }

std::vector<std::string_view> split(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  for (std::size_t end = text.find(separator); end != text.npos; end = text.find(separator)) {
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + separator.size());
  }
  parts.push_back(text);
  return parts;
}

bool lists(std::string_view words, std::string_view word) { return contains(split(words, " "), word); }

bool naturally_before(std::string_view a, std::string_view b) noexcept {
  const auto number_at = [&](std::string_view text, std::size_t from) {
    const auto end = std::find_if_not(text.begin() + static_cast<std::ptrdiff_t>(from), text.end(), text::is_digit);
    std::string_view digits = text.substr(from, static_cast<std::size_t>(end - text.begin()) - from);
    digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
    return digits;
  };
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (text::is_digit(a[i]) && text::is_digit(b[j])) {
      const std::string_view x = number_at(a, i);
      const std::string_view y = number_at(b, j);
      if (x != y) {
        return x.size() != y.size() ? x.size() < y.size() : x < y;
      }
      i = static_cast<std::size_t>(x.data() + x.size() - a.data());
      j = static_cast<std::size_t>(y.data() + y.size() - b.data());
    } else if (a[i] != b[j]) {
      return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]);
    } else {
      ++i;
      ++j;
    }
  }
  return a.size() - i != b.size() - j ? a.size() - i < b.size() - j : a < b;
}

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
  std::string out;
  std::size_t column = 0;  // 0: the line is empty so far
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(" \n"), text.size());
    const std::string_view word = text.substr(0, end);
    if (!word.empty()) {
      if (column != 0 && column + 1 + display_width(word) > width) {
        out += '\n';
        column = 0;
      }
      if (column == 0) {
        out.append(indent, ' ');
        column = indent;
      } else {
        out += ' ';
        ++column;
      }
      out += word;
      column += display_width(word);
    }
    if (end < text.size() && text[end] == '\n') {
      out += '\n';
      column = 0;
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return column == 0 ? out : out + '\n';
}

namespace {

bool is_glob(std::string_view text) {
  return text.find_first_of("*?") != std::string_view::npos ||
         (text.find('[') != std::string_view::npos && text.find(']') != std::string_view::npos);
}

// Whether the text has characters that globs do not use, or uses `*` or `?` as only regular expressions do.
bool is_regex(std::string_view text) {
  constexpr std::string_view repeated[] = {".*", ".?", "]*", "]?"};
  return text.find_first_of("()|\\^$+{}") != text.npos ||
         std::ranges::any_of(repeated, [&](std::string_view one) { return text.find(one) != text.npos; });
}

}  // namespace

std::optional<std::string> regex_of_glob(std::string_view text) {
  if (!is_glob(text) || is_regex(text)) {
    return std::nullopt;
  }
  // A search finds the pattern anywhere, so a star at an end needs no anchor there.
  const bool open_start = text.starts_with('*');
  text.remove_prefix(std::min(text.find_first_not_of('*'), text.size()));
  const bool open_end = text.empty() || text.ends_with('*');
  text = text.substr(0, text.find_last_not_of('*') + 1);
  std::string regex = open_start ? "" : "^";
  append_replaced(regex, text, {{'*', ".*"}, {'?', "."}, {'.', "\\."}});
  return open_end ? regex : regex + "$";
}

std::string glob_for_regex(std::string_view text) {
  const std::optional<std::string> regex = regex_of_glob(text);
  if (!regex) {
    return {};
  }
  return single_quoted(text) + " is a regular expression, not a glob: try " +
         single_quoted(regex->empty() ? "." : *regex);
}

}  // namespace smd::tool
