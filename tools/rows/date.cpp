// SPDX-License-Identifier: Apache-2.0
#include "rows/date.hpp"

#include "cli/number_format.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
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

std::string time_text(double seconds_since_1970) {
  constexpr double first = -62135596800;  // of the year 1, and after the year 9999
  constexpr double end = 253402300800;
  constexpr std::int64_t million = 1'000'000;
  if (!(seconds_since_1970 >= first && seconds_since_1970 < end)) {
    return {};
  }
  double whole = std::floor(seconds_since_1970);
  std::int64_t micros = std::llround((seconds_since_1970 - whole) * million);
  whole += micros == million ? 1 : 0;
  micros %= million;
  const auto seconds = static_cast<std::time_t>(whole);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 64> text{};
  const int size = std::snprintf(text.data(), text.size(), "%04d-%02d-%02dT%02d:%02d:%02d.%06dZ", parts.tm_year + 1900,
                                 parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                                 static_cast<int>(micros));
  return {text.data(), static_cast<std::size_t>(size)};
}

void show_date(std::string& out, const Cell& cell, int precision) {
  if (const auto* seconds = std::get_if<double>(&cell.value())) {
    out += date_text(*seconds);
  } else {
    append_text(out, cell, precision);
  }
}

}  // namespace smd::tool
