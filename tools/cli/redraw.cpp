// SPDX-License-Identifier: Apache-2.0
#include "cli/redraw.hpp"

#include "cli/terminal.hpp"
#include "cli/text.hpp"

#include <unistd.h>

#include <algorithm>

namespace smd::tool {

namespace {

/// Columns that a line takes, without the sequences that colour it.
std::size_t shown_width(std::string_view line) {
  std::string plain;
  bool in_sequence = false;
  for (const char c : line) {
    in_sequence = in_sequence || c == '\x1b';
    if (!in_sequence) {
      plain += c;
    }
    in_sequence = in_sequence && c != 'm';
  }
  return display_width(plain);
}

}  // namespace

void Redraw::show(const std::string& text) {
  const std::size_t columns = terminal_width(STDOUT_FILENO);
  const std::size_t most = terminal_height(STDOUT_FILENO) - 1;
  if (messages_.written() == said_) {
    std::size_t lines = 0;  // that the text before takes now: the terminal may have become narrower
    for (const std::size_t width : widths_) {
      lines += std::max<std::size_t>((width + columns - 1) / columns, 1);
    }
    if (lines > 0) {
      out_.write("\x1b[" + std::to_string(std::min(lines, most)) + "A");
    }
    out_.write("\r\x1b[J");
  }
  widths_.clear();
  said_ = messages_.written();
  const auto all = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  std::string_view rest = text;
  for (std::size_t left = all > most ? most - 1 : all; left > 0; --left) {
    const std::size_t end = rest.find('\n');
    widths_.push_back(shown_width(rest.substr(0, end)));
    out_.write(rest.substr(0, end + 1));
    rest.remove_prefix(end + 1);
  }
  if (all > most) {
    const std::string more = counted(all - most + 1, "more line");
    widths_.push_back(more.size());
    out_.write(more + "\n");
  }
  out_.flush();
}

}  // namespace smd::tool
