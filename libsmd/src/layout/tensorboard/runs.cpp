// SPDX-License-Identifier: Apache-2.0
#include "layout/tensorboard/runs.hpp"

#include "text/words.hpp"

#include <map>

namespace smd::detail::layout {

bool ends_in_side(std::string_view name) {
  const std::vector<std::string> words = text::split_words(name);
  return !words.empty() && text::side_of_word(words.back(), words.size() == 1) != text::Side::none;
}

std::vector<std::string> sides_of_one(std::span<const std::string> runs) {
  using Words = std::vector<std::string>;
  std::map<Words, std::vector<std::string>> by_rest;  // by the words before the side
  for (const std::string& run : runs) {
    Words rest = text::split_words(run);
    rest.pop_back();
    by_rest[std::move(rest)].push_back(run);
  }
  if (const auto alone = by_rest.find(Words()); alone != by_rest.end()) {
    return alone->second;
  }
  std::erase_if(by_rest, [](const auto& one) { return one.second.size() < 2; });
  return by_rest.size() == 1 ? by_rest.begin()->second : std::vector<std::string>();
}

}  // namespace smd::detail::layout
