// SPDX-License-Identifier: Apache-2.0
#include "rows/date.hpp"

#include "cli/number_format.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <ctime>

namespace smd::tool {

namespace {

// Beyond, there is no date: a record may claim any time.
constexpr double year_0 = -62167219200;
constexpr double year_1 = -62135596800;
constexpr double year_10000 = 253402300800;

std::tm utc(double whole_seconds) {
  const auto seconds = static_cast<std::time_t>(whole_seconds);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return parts;
}

std::string date_text(double seconds_since_1970) {
  const double whole = std::floor(seconds_since_1970);
  if (!(whole >= year_0 && whole < year_10000)) {
    return number_text(seconds_since_1970);
  }
  const std::tm at = utc(whole);
  return fmt::format("{}-{:02}-{:02} {:02}:{:02}:{:02}Z", at.tm_year + 1900, at.tm_mon + 1, at.tm_mday, at.tm_hour,
                     at.tm_min, at.tm_sec);
}

}  // namespace

std::string time_text(double seconds_since_1970) {
  constexpr std::int64_t million = 1'000'000;
  if (!(seconds_since_1970 >= year_1 && seconds_since_1970 < year_10000)) {
    return {};
  }
  const double whole = std::floor(seconds_since_1970);
  const std::int64_t micros = std::llround((seconds_since_1970 - whole) * million);
  const std::tm at = utc(micros == million ? whole + 1 : whole);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", at.tm_year + 1900, at.tm_mon + 1, at.tm_mday,
                     at.tm_hour, at.tm_min, at.tm_sec, micros % million);
}

void show_date(std::string& out, const Cell& cell, int precision) {
  if (const auto* seconds = std::get_if<double>(&cell.value())) {
    out += date_text(*seconds);
  } else {
    append_text(out, cell, precision);
  }
}

}  // namespace smd::tool
