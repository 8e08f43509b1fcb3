// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace smd::text {

/// Returns a text without the characters of `blanks` at its ends.
[[nodiscard]] constexpr std::string_view trimmed(std::string_view text, std::string_view blanks = " \t\r\n") noexcept {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  text.remove_suffix(text.size() - std::min(text.find_last_not_of(blanks) + 1, text.size()));
  return text;
}

/// Returns the part of a text before the first of some separators, or all of it. `text` is then what follows.
[[nodiscard]] constexpr std::string_view next_part(std::string_view& text, std::string_view separators) noexcept {
  const std::string_view part = text.substr(0, text.find_first_of(separators));
  text.remove_prefix(std::min(part.size() + 1, text.size()));
  return part;
}

/// Returns the parts between commas, trimmed; without empty ones.
[[nodiscard]] inline std::vector<std::string> list_items(std::string_view text, std::string_view blanks = " \t\r\n") {
  std::vector<std::string> items;
  while (!text.empty()) {
    if (const std::string_view item = trimmed(next_part(text, ","), blanks); !item.empty()) {
      items.emplace_back(item);
    }
  }
  return items;
}

}  // namespace smd::text
