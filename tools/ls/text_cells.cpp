// SPDX-License-Identifier: Apache-2.0
#include "text_cells.hpp"

#include <array>
#include <cmath>
#include <ctime>

#include "cli/number_format.hpp"
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

std::string date_text(double seconds_since_1970) {
  const double whole = std::floor(seconds_since_1970);
  // Years beyond four digits: a record may claim any time.
  if (!(whole >= -62167219200.0 && whole < 253402300800.0)) {
    return number_text(seconds_since_1970);
  }
  const auto seconds = static_cast<std::time_t>(whole);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%SZ", &parts);
  return {text.data(), size};
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

void show_date(std::string& out, const Cell& cell, int precision) {
  if (const auto* seconds = std::get_if<double>(&cell.value())) {
    out += date_text(*seconds);
  } else {
    append_text(out, cell, precision);
  }
}

}  // namespace smd::tool::ls
