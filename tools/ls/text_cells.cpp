// SPDX-License-Identifier: Apache-2.0
#include "text_cells.hpp"

#include "select/selection.hpp"

namespace smd::tool::ls {
namespace {

constexpr std::size_t list_width = 40;

std::string abridged(std::span<const std::string> items) {
  std::string text;
  for (std::size_t i = 0; i < items.size(); ++i) {
    // Names are never cut, and one is always shown; `+1` would save nothing.
    if (i > 0 && i + 1 < items.size() && text.size() + items[i].size() > list_width) {
      return text + ",+" + std::to_string(items.size() - i);
    }
    text += (i == 0 ? "" : ",") + items[i];
  }
  return text;
}

}  // namespace

std::vector<std::string> mode_texts(std::span<const Mode> modes) {
  std::vector<std::string> texts;
  for (const Mode mode : modes) {
    texts.emplace_back(to_string(mode));
  }
  return texts;
}

void show_abridged(std::string& out, const Cell& cell, int precision) {
  if (const auto* list = std::get_if<ListCell>(&cell.value())) {
    out += abridged(list->items);
  } else {
    append_text(out, cell, precision);
  }
}

}  // namespace smd::tool::ls
