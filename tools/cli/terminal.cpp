// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace smd::tool {

namespace {

std::string_view environment(const char* name) noexcept {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

/// How many columns or lines a terminal has.
std::size_t extent_of(int descriptor, unsigned short winsize::*side, const char* variable, std::size_t otherwise,
                      std::size_t least) noexcept {
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.*side > 0) {
    return std::max<std::size_t>(size.*side, least);
  }
  const std::string_view text = environment(variable);
  std::size_t number = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  return result.ec == std::errc() && number > 0 && number <= 10'000 ? std::max(number, least) : otherwise;
}

}  // namespace

bool is_terminal(int descriptor) noexcept { return isatty(descriptor) == 1; }

std::size_t terminal_width(int descriptor) noexcept {
  return extent_of(descriptor, &winsize::ws_col, "COLUMNS", 80, 20);
}

std::size_t terminal_height(int descriptor) noexcept { return extent_of(descriptor, &winsize::ws_row, "LINES", 24, 2); }

bool locale_is_utf8() noexcept {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view value = environment(name);
    if (value.empty()) {
      continue;
    }
    for (std::size_t at = 0; at + 4 <= value.size(); ++at) {
      if (strncasecmp(value.data() + at, "utf-8", 5) == 0 || strncasecmp(value.data() + at, "utf8", 4) == 0) {
        return true;
      }
    }
    return false;
  }
  return false;
}

bool use_color(ColorChoice choice, int descriptor) noexcept {
  if (choice != ColorChoice::automatic) {
    return choice == ColorChoice::always;
  }
  return is_terminal(descriptor) && environment("NO_COLOR").empty() && environment("TERM") != "dumb";
}

}  // namespace smd::tool
