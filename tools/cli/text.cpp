// SPDX-License-Identifier: Apache-2.0
#include "cli/text.hpp"

#include "cli/display_width_table.hpp"
#include "text/excerpt.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace smd::tool {

namespace {

template <std::size_t Size>
bool within(const CodePointRange (&ranges)[Size], char32_t point) noexcept {
  const auto* range = std::upper_bound(std::begin(ranges), std::end(ranges), point,
                                       [](char32_t value, const CodePointRange& r) { return value < r.first; });
  return range != std::begin(ranges) && point <= std::prev(range)->last;
}

// What changes how the rest of a line shows, or hides: bidirectional controls, separators, invisible marks, tags.
bool is_deceptive(char32_t point) noexcept {
  return point == 0x61C || point == 0x180E || (point >= 0x200B && point <= 0x200F) ||
         (point >= 0x2028 && point <= 0x202E) || (point >= 0x2060 && point <= 0x206F) || point == 0xFEFF ||
         (point >= 0xFFF9 && point <= 0xFFFB) || (point >= 0xE0000 && point <= 0xE007F);
}

void append_hex(std::string& out, std::uint32_t number, int least_digits) {
  static constexpr char digits[] = "0123456789abcdef";
  int shift = 28;
  while (shift > 0 && shift >= 4 * least_digits && (number >> shift) == 0) {
    shift -= 4;
  }
  for (; shift >= 0; shift -= 4) {
    out += digits[(number >> shift) & 15];
  }
}

char folded(char letter) noexcept { return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + 32) : letter; }

// Optimal string alignment: insertions, deletions, changes and swaps of neighbours, without regard to case.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) {
    last[j] = j;
  }
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = folded(a[i - 1]) == folded(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && folded(a[i - 1]) == folded(b[j - 2]) && folded(a[i - 2]) == folded(b[j - 1])) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

CodePoint decode_utf8(std::string_view text) noexcept {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) {
    return {lead, 1, true};
  }
  std::size_t size = 0;
  char32_t value = 0;
  char32_t least = 0;
  if (lead >= 0xC2 && lead < 0xE0) {
    size = 2;
    value = lead & 0x1Fu;
    least = 0x80;
  } else if (lead >= 0xE0 && lead < 0xF0) {
    size = 3;
    value = lead & 0x0Fu;
    least = 0x800;
  } else if (lead >= 0xF0 && lead < 0xF5) {
    size = 4;
    value = lead & 0x07u;
    least = 0x10000;
  }
  if (size == 0 || text.size() < size) {
    return {lead, 1, false};
  }
  for (std::size_t at = 1; at < size; ++at) {
    if ((byte(at) & 0xC0u) != 0x80) {
      return {lead, 1, false};
    }
    value = (value << 6) | (byte(at) & 0x3Fu);
  }
  if (value < least || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) {
    return {lead, 1, false};
  }
  return {value, size, true};
}

bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const CodePoint point = decode_utf8(text);
    if (!point.valid) {
      return false;
    }
    text.remove_prefix(point.size);
  }
  return true;
}

void append_utf8(std::string& out, char32_t point) {
  const auto tail = [&](int shift) { out += static_cast<char>(0x80u | ((point >> shift) & 0x3Fu)); };
  if (point < 0x80) {
    out += static_cast<char>(point);
  } else if (point < 0x800) {
    out += static_cast<char>(0xC0u | (point >> 6));
    tail(0);
  } else if (point < 0x10000) {
    out += static_cast<char>(0xE0u | (point >> 12));
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xF0u | (point >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

bool upsets_terminal(char32_t point) noexcept {
  return point < 0x20 || (point >= 0x7F && point < 0xA0) || is_deceptive(point);
}

void append_printable(std::string& out, std::string_view text, bool ascii) {
  while (!text.empty()) {
    const CodePoint point = decode_utf8(text);
    if (!point.valid || point.value < 0x20 || point.value == 0x7F) {
      out += "\\x";
      append_hex(out, static_cast<unsigned char>(text.front()), 2);
    } else if (upsets_terminal(point.value) || (ascii && point.value >= 0x80)) {
      out += "\\u{";
      append_hex(out, point.value, 1);
      out += '}';
    } else {
      out += text.substr(0, point.size);
    }
    text.remove_prefix(point.size);
  }
}

std::string printable(std::string_view text, bool ascii) {
  std::string out;
  append_printable(out, text, ascii);
  return out;
}

std::size_t display_width(std::string_view text) noexcept {
  std::size_t width = 0;
  while (!text.empty()) {
    const CodePoint point = decode_utf8(text);
    text.remove_prefix(point.size);
    if (point.value < 0x300 || !point.valid) {
      ++width;
    } else if (within(wide_ranges, point.value)) {
      width += 2;
    } else if (!within(zero_width_ranges, point.value)) {
      ++width;
    }
  }
  return width;
}

std::string quoted(std::string_view name) { return "'" + text::excerpt(name) + "'"; }

std::string quoted_list(std::span<const std::string> names, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < most; ++i) {
    text += (i == 0 ? "" : ", ") + quoted(names[i]);
  }
  if (names.size() > most) {
    text += " and " + std::to_string(names.size() - most) + " more";
  }
  return text;
}

std::string counted(std::size_t number, std::string_view noun) {
  return std::to_string(number) + " " + std::string(noun) + (number == 1 ? "" : "s");
}

std::vector<std::string> nearest_names(std::string_view name, std::span<const std::string> candidates,
                                       std::size_t most) {
  constexpr std::size_t longest = 256;  // the distance takes time and memory by the square
  struct Scored {
    std::size_t score;
    const std::string* name;
  };
  std::vector<Scored> scored;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(name.substr(0, longest), std::string_view(candidate).substr(0, longest));
    const std::size_t size = std::min(std::max(name.size(), candidate.size()), longest);
    const bool part = name.size() >= 3 && candidate.find(name) != std::string::npos;
    if (part || distance <= std::max<std::size_t>(size / 3, 1)) {
      scored.push_back({part ? std::min<std::size_t>(distance, 3) : distance, &candidate});
    }
  }
  std::stable_sort(scored.begin(), scored.end(), [](const Scored& a, const Scored& b) { return a.score < b.score; });
  std::vector<std::string> result;
  for (std::size_t i = 0; i < scored.size() && i < most; ++i) {
    result.push_back(*scored[i].name);
  }
  return result;
}

std::string did_you_mean(std::span<const std::string> names) {
  if (names.empty()) {
    return {};
  }
  std::string text = "; did you mean ";
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) {
      text += i + 1 == names.size() ? " or " : ", ";
    }
    text += quoted(names[i]);
  }
  return text + "?";
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
  if (column != 0) {
    out += '\n';
  }
  return out;
}

}  // namespace smd::tool
