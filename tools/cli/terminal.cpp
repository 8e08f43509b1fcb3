// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.hpp"

#include "cli/text.hpp"
#include "text/environment.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>

namespace smd::tool {

namespace {

/// How many columns or lines a terminal has.
std::size_t extent_of(int descriptor, unsigned short winsize::*side, const char* variable, std::size_t otherwise,
                      std::size_t least) noexcept {
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.*side > 0) {
    return std::max<std::size_t>(size.*side, least);
  }
  const std::string text = text::environment(variable).value_or("");
  std::size_t number = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  return result.ec == std::errc() && number > 0 && number <= 10'000 ? std::max(number, least) : otherwise;
}

/// Whether the environment says that terminals show UTF-8: the first non-empty of LC_ALL, LC_CTYPE, LANG, by its text.
bool locale_is_utf8() noexcept {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    if (const auto value = text::environment(name)) {
      return strcasestr(value->c_str(), "utf-8") != nullptr || strcasestr(value->c_str(), "utf8") != nullptr;
    }
  }
  return false;
}

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

bool is_terminal(int descriptor) noexcept { return isatty(descriptor) == 1; }

std::size_t terminal_width(int descriptor) noexcept {
  return extent_of(descriptor, &winsize::ws_col, "COLUMNS", 80, 20);
}

bool use_color(std::optional<bool> wanted, int descriptor) noexcept {
  return wanted.value_or(is_terminal(descriptor) && !text::environment("NO_COLOR") &&
                         text::environment("TERM") != "dumb");
}

TerminalOptions TerminalOptions::from(const CommandLine& line) {
  const std::string color = line.value("color").value_or("auto");
  return {.color = color == "auto" ? std::nullopt : std::optional(color == "always"),
          .ascii = line.has("ascii") || !locale_is_utf8()};
}

void Redraw::show(const std::string& text) {
  const std::size_t columns = terminal_width(STDOUT_FILENO);
  const std::size_t most = extent_of(STDOUT_FILENO, &winsize::ws_row, "LINES", 24, 2) - 1;
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
  const auto all = static_cast<std::size_t>(std::ranges::count(text, '\n'));
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
