// SPDX-License-Identifier: Apache-2.0
#include "rows/date.hpp"

#include "cli/number_format.hpp"

#include <array>
#include <cmath>
#include <ctime>

namespace smd::tool {

namespace {

std::string date_text(double seconds_since_1970) {
  const double whole = std::floor(seconds_since_1970);
  // No date for years beyond four digits: a record may claim any time.
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

void show_date(std::string& out, const Cell& cell, int precision) {
  if (const auto* seconds = std::get_if<double>(&cell.value())) {
    out += date_text(*seconds);
  } else {
    append_text(out, cell, precision);
  }
}

}  // namespace smd::tool
