// SPDX-License-Identifier: Apache-2.0
#include "text/pattern_class.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <utility>

namespace smd::detail {

namespace {

/// Characters that are equal without regard to case in Python but not in PCRE2. All others agree (Unicode 14).
constexpr std::array<std::array<std::uint32_t, 4>, 4> alike_in_python = {{
    {'I', 'i', 0x130, 0x131},
    {0x390, 0x390, 0x1FD3, 0x1FD3},
    {0x3B0, 0x3B0, 0x1FE3, 0x1FE3},
    {0xFB05, 0xFB05, 0xFB06, 0xFB06},
}};

constexpr std::uint32_t case_bit = 'a' - 'A';

bool is_lower(std::uint32_t c) noexcept { return c >= 'a' && c <= 'z'; }
bool is_upper(std::uint32_t c) noexcept { return c >= 'A' && c <= 'Z'; }
bool is_digit(std::uint32_t c) noexcept { return c >= '0' && c <= '9'; }

/// Returns whether PCRE2 folds a letter to a non-ASCII one: k to the Kelvin sign, s to the long s.
bool folds_beyond_ascii(std::uint32_t c) noexcept { return c == 'k' || c == 'K' || c == 's' || c == 'S'; }

}  // namespace

std::string_view class_members(char escape, bool ascii) noexcept {
  switch (escape) {
    case 'w':
      return ascii ? "A-Za-z0-9_" : R"(\p{L}\p{N}_)";
    case 'W':
      return ascii ? R"(\x{0}-\x{2f}\x{3a}-\x{40}\x{5b}-\x{5e}\x{60}\x{7b}-\x{10ffff})"
                   : R"(\p{M}\p{S}\p{Z}\p{C}\p{Pd}\p{Ps}\p{Pe}\p{Pi}\p{Pf}\p{Po})"
                     R"(\x{203f}\x{2040}\x{2054}\x{fe33}\x{fe34}\x{fe4d}-\x{fe4f}\x{ff3f})";
    case 'd':
      return ascii ? "0-9" : R"(\p{Nd})";
    case 'D':
      return ascii ? R"(\x{0}-\x{2f}\x{3a}-\x{10ffff})" : R"(\P{Nd})";
    case 's':
      return ascii ? R"(\x{9}-\x{d}\x{20})"
                   : R"(\x{9}-\x{d}\x{1c}-\x{20}\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f})"
                     R"(\x{3000})";
    case 'S':
      return ascii ? R"(\x{0}-\x{8}\x{e}-\x{1f}\x{21}-\x{10ffff})"
                   : R"(\x{0}-\x{8}\x{e}-\x{1b}\x{21}-\x{84}\x{86}-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff})"
                     R"(\x{200b}-\x{2027}\x{202a}-\x{202e}\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{10ffff})";
    default:
      return {};
  }
}

void append_character(std::string& out, std::uint32_t character) {
  if (is_lower(character) || is_upper(character) || is_digit(character)) {
    out.push_back(static_cast<char>(character));
    return;
  }
  std::array<char, 8> digits;
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), character, 16);
  out.append("\\x{").append(digits.data(), end).push_back('}');
}

void append_literal(std::string& out, std::uint32_t character, PatternFlags flags) {
  const auto folded = [character](const auto& set) {
    return std::find(set.begin(), set.end(), character) != set.end();
  };
  const bool special =
      flags.ignore_case && (flags.ascii ? character >= 0x80 || folds_beyond_ascii(character)
                                        : std::any_of(alike_in_python.begin(), alike_in_python.end(), folded));
  if (!special) {
    append_character(out, character);
    return;
  }
  ClassText alike(false, flags);
  alike.add(character, character);
  alike.append_to(out);
}

void ClassText::add_range(std::uint32_t first, std::uint32_t last) {
  append_character(members_, first);
  if (first != last) {
    members_.push_back('-');
    append_character(members_, last);
  }
}

void ClassText::add(std::uint32_t first, std::uint32_t last) {
  add_range(first, last);
  if (!flags_.ignore_case) {
    return;
  }
  if (!flags_.ascii) {
    for (std::size_t i = 0; i < alike_.size(); ++i) {
      const auto& set = alike_in_python[i];
      alike_[i] =
          alike_[i] || std::any_of(set.begin(), set.end(), [&](std::uint32_t c) { return c >= first && c <= last; });
    }
    return;
  }
  if (const auto [low, high] = std::pair(std::max<std::uint32_t>(first, 'a'), std::min<std::uint32_t>(last, 'z'));
      low <= high) {
    add_range(low - case_bit, high - case_bit);
  }
  if (const auto [low, high] = std::pair(std::max<std::uint32_t>(first, 'A'), std::min<std::uint32_t>(last, 'Z'));
      low <= high) {
    add_range(low + case_bit, high + case_bit);
  }
}

void ClassText::append_to(std::string& out) const {
  const bool case_is_done = flags_.ignore_case && flags_.ascii;
  out += case_is_done ? "(?-i:[" : "[";
  out += negated_ ? "^" : "";
  out += members_;
  for (std::size_t i = 0; i < alike_.size(); ++i) {
    for (const std::uint32_t character : alike_in_python[i]) {
      if (alike_[i]) {
        append_character(out, character);
      }
    }
  }
  out += case_is_done ? "])" : "]";
}

}  // namespace smd::detail
