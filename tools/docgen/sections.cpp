// SPDX-License-Identifier: Apache-2.0
#include "docgen.hpp"

#include "cli/mapped.hpp"
#include "cli/text.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

namespace smd::docgen {

Sections sections(std::string_view text, const Slots& slots, std::span<const std::string> titles) {
  Sections all;
  bool apart = false;  // a blank line precedes
  std::size_t number = 0;
  for (const std::string_view line : tool::split(text, "\n")) {
    ++number;
    const auto fail_if = [&](bool wrong, std::string_view why) {
      if (wrong) {
        throw std::runtime_error(fmt::format("line {}: {}: {}", number, why, line));
      }
    };
    if (line.starts_with(".\\\"")) {
      continue;
    }
    if (line.starts_with(".Sh ")) {
      std::string title(line.substr(4));
      fail_if(!titles.empty() && !tool::contains(titles, title), "no page has a place for this");
      fail_if(!text_of(all, title).empty(), "this title occurs twice");
      all.push_back({std::move(title), {}});
    } else if (line.empty()) {
      apart = true;
    } else {
      fail_if(line.starts_with('.'), "neither .Sh TITLE nor text");
      fail_if(all.empty(), "text before the first .Sh TITLE");
      std::string& paragraphs = all.back().text;
      paragraphs += paragraphs.empty() ? "" : apart ? "\n\n" : " ";
      paragraphs += line;
      apart = false;
    }
  }
  for (TextSection& section : all) {
    if (section.text.empty()) {
      throw std::runtime_error("this section has no text: " + section.title);
    }
    section.text = filled(section.text, slots);
  }
  return all;
}

std::string_view text_of(const Sections& sections, std::string_view title) noexcept {
  const auto found = std::ranges::find(sections, title, &TextSection::title);
  return found == sections.end() ? std::string_view() : std::string_view(found->text);
}

}  // namespace smd::docgen
