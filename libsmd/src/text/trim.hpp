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

/// Returns the parts between commas, trimmed; without empty ones.
[[nodiscard]] inline std::vector<std::string> list_items(std::string_view text, std::string_view blanks = " \t\r\n") {
  std::vector<std::string> items;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    if (const std::string_view item = trimmed(text.substr(at, end - at), blanks); !item.empty()) {
      items.emplace_back(item);
    }
    at = end + 1;
  }
  return items;
}

}  // namespace smd::text
