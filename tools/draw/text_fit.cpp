// SPDX-License-Identifier: Apache-2.0
#include "draw/text_fit.hpp"

#include "cli/escape.hpp"
#include "cli/mapped.hpp"
#include "cli/text.hpp"

#include <algorithm>

namespace smd::tool {

namespace {

// Widths of DejaVu Sans, which is among the widest fonts.
double character_width(char32_t point, std::string_view bytes) noexcept {
  constexpr std::string_view narrow = "ijl.,:;|'!()[]I ft/\\";
  constexpr std::string_view wide = "mwMW@%";
  if (point < 0x80) {
    const char letter = static_cast<char>(point);
    return narrow.find(letter) != std::string_view::npos ? 0.4
           : wide.find(letter) != std::string_view::npos ? 0.99
           : point >= 'A' && point <= 'Z'                ? 0.72
                                                         : 0.64;
  }
  return 0.62 * static_cast<double>(std::max<std::size_t>(display_width(bytes), 1));
}

struct Character {
  std::size_t begin = 0;
  double width = 0;
};

std::vector<Character> characters(std::string_view text) {
  std::vector<Character> all;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint one = first_character(text.substr(at));
    all.push_back({at, character_width(one.value, text.substr(at, one.bytes))});
    at += one.bytes;
  }
  return all;
}

}  // namespace

double text_width(std::string_view text) { return sum_of(characters(text), &Character::width); }

std::string shortened(std::string_view text, double width) {
  std::string shown = displayable(text);
  if (text_width(shown) <= width) {
    return shown;
  }
  const std::vector<Character> all = characters(shown);
  const double room = std::max(width - 1, 0.0);  // `…` is 1 wide
  std::size_t head = 0;
  std::size_t tail = all.size();
  double head_width = 0;
  double tail_width = 0;
  while (head < tail) {
    const bool at_head = head_width <= tail_width;
    const double next = at_head ? all[head].width : all[tail - 1].width;
    if (head_width + tail_width + next > room) {
      break;
    }
    if (at_head) {
      ++head;
      head_width += next;
    } else {
      --tail;
      tail_width += next;
    }
  }
  const std::size_t head_end = head < all.size() ? all[head].begin : shown.size();
  const std::size_t tail_begin = tail < all.size() ? all[tail].begin : shown.size();
  return shown.substr(0, head_end) + "…" + shown.substr(tail_begin);
}

std::vector<std::string> text_lines(std::string_view text, double width, std::size_t most) {
  std::vector<std::string> lines;
  std::string rest = displayable(text);
  while (!rest.empty()) {
    if (lines.size() + 1 == most || text_width(rest) <= width) {
      lines.push_back(shortened(rest, width));
      return lines;
    }
    double used = 0;
    std::size_t end = 0;
    std::size_t space = 0;
    for (const Character& one : characters(rest)) {
      used += one.width;
      end = one.begin;
      if (used > width && end != 0) {
        break;
      }
      space = rest[end] == ' ' ? end : space;
    }
    if (space == 0) {  // one long word: broken anywhere, between characters
      space = end != 0 ? end : rest.size();
    }
    lines.push_back(rest.substr(0, space));
    rest.erase(0, std::min(rest.find_first_not_of(' ', space), rest.size()));
  }
  return lines;
}

}  // namespace smd::tool
