// SPDX-License-Identifier: Apache-2.0
#include "text/time.hpp"

#include "text/ascii.hpp"
#include "text/number.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <string>

namespace smd::text {

namespace {

/// Returns whether a text has a form, in which 0 stands for a digit and T for what separates a date from a time of day.
bool has_form(std::string_view text, std::string_view form) noexcept {
  return std::equal(text.begin(), text.end(), form.begin(), form.end(), [](char c, char wanted) {
    return wanted == '0' ? is_digit(c) : wanted == 'T' ? c == 'T' || c == 't' || c == ' ' : c == wanted;
  });
}

/// Returns the number that digits are; 0 if it is too small.
template <class Number>
Number digits_as(std::string_view digits) noexcept {
  return parsed<Number>(digits).value_or(0);
}

}  // namespace

std::optional<double> seconds_of_time(std::string_view text, bool zone_needed) {
  constexpr std::array<std::string_view, 4> forms = {"0000-00-00T00:00:00", "00000000T000000", "0000-00-00T00:00",
                                                     "0000-00-00"};
  constexpr std::size_t all_digits = 14;
  const auto form =
      std::ranges::find_if(forms, [&](std::string_view one) { return has_form(text.substr(0, one.size()), one); });
  if (form == forms.end()) {
    return std::nullopt;
  }
  std::string digits(text.substr(0, form->size()));
  std::erase_if(digits, [](char c) { return !is_digit(c); });
  const bool has_seconds = digits.size() == all_digits;
  digits.resize(all_digits, '0');
  const auto part = [&](std::size_t place) { return digits_as<unsigned>(digits.substr(place, 2)); };
  const std::chrono::year_month_day date{std::chrono::year(digits_as<int>(digits.substr(0, 4))),
                                         std::chrono::month(part(4)), std::chrono::day(part(6))};
  if (!date.ok() || part(8) >= 24 || part(10) >= 60 || part(12) > 60) {
    return std::nullopt;
  }
  double fraction = 0;
  double offset = 0;
  std::string_view zone = text.substr(form->size());
  if (has_seconds && (zone.starts_with('.') || zone.starts_with(','))) {
    const std::size_t end = std::min(zone.find_first_not_of("0123456789", 1), zone.size());
    if (end == 1) {
      return std::nullopt;
    }
    fraction = digits_as<double>("." + std::string(zone.substr(1, end - 1)));
    zone.remove_prefix(end);
  }
  const bool minus = zone.starts_with('-');
  if (minus || zone.starts_with('+')) {
    zone.remove_prefix(1);
    if (!has_form(zone, "00:00") && !has_form(zone, "0000")) {
      return std::nullopt;
    }
    const auto hours = digits_as<unsigned>(zone.substr(0, 2));
    const auto minutes = digits_as<unsigned>(zone.substr(zone.size() - 2));
    if (hours >= 24 || minutes >= 60) {
      return std::nullopt;
    }
    offset = (minus ? -60.0 : 60.0) * (60 * hours + minutes);
  } else if (zone != "Z" && zone != "z" && (zone_needed || !zone.empty())) {
    return std::nullopt;
  }
  const auto days = std::chrono::sys_days(date).time_since_epoch();
  return static_cast<double>(days.count()) * 86400 + part(8) * 3600 + part(10) * 60 + part(12) + fraction - offset;
}

}  // namespace smd::text
