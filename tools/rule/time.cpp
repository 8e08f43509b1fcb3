// SPDX-License-Identifier: Apache-2.0
#include "cli/text.hpp"
#include "options.hpp"

#include <charconv>
#include <chrono>
#include <cmath>

namespace smd::tool::rule {

namespace {

/// Reads a text from the left; `ok_` is false from the first mismatch on.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  [[nodiscard]] bool done() const noexcept { return ok_ && rest_.empty(); }
  /// A number of exactly `count` digits.
  unsigned digits(std::size_t count) {
    unsigned number = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (i >= rest_.size() || rest_[i] < '0' || rest_[i] > '9') {
        ok_ = false;
        return 0;
      }
      number = number * 10 + static_cast<unsigned>(rest_[i] - '0');
    }
    rest_.remove_prefix(count);
    return number;
  }
  /// The next character, if it is one of these; else 0.
  char one_of(std::string_view choices) {
    if (rest_.empty() || choices.find(rest_.front()) == std::string_view::npos) {
      return '\0';
    }
    const char found = rest_.front();
    rest_.remove_prefix(1);
    return found;
  }
  char require(std::string_view choices) {
    const char found = one_of(choices);
    ok_ = ok_ && found != '\0';
    return found;
  }
  /// Digits after a point.
  double fraction() {
    double value = 0;
    double weight = 0.1;
    const std::size_t before = rest_.size();
    while (!rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9') {
      value += weight * (rest_.front() - '0');
      weight /= 10;
      rest_.remove_prefix(1);
    }
    ok_ = ok_ && rest_.size() < before;
    return value;
  }
  void refuse_unless(bool condition) { ok_ = ok_ && condition; }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace

double parse_time(std::string_view text) {
  double seconds = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, seconds);
  if (error == std::errc() && rest == end && std::isfinite(seconds)) {
    return seconds;
  }
  Scanner scanner(text);
  const unsigned year = scanner.digits(4);
  scanner.require("-");
  const unsigned month = scanner.digits(2);
  scanner.require("-");
  const unsigned day = scanner.digits(2);
  scanner.require("Tt ");
  const unsigned hour = scanner.digits(2);
  scanner.require(":");
  const unsigned minute = scanner.digits(2);
  scanner.require(":");
  const unsigned second = scanner.digits(2);
  const double fraction = scanner.one_of(".") != '\0' ? scanner.fraction() : 0;
  double offset = 0;
  if (const char sign = scanner.require("Zz+-"); sign == '+' || sign == '-') {
    const unsigned hours = scanner.digits(2);
    scanner.require(":");
    const unsigned minutes = scanner.digits(2);
    scanner.refuse_unless(hours < 24 && minutes < 60);
    offset = (sign == '-' ? -60.0 : 60.0) * (60 * hours + minutes);
  }
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(year)), std::chrono::month(month),
                                         std::chrono::day(day)};
  scanner.refuse_unless(date.ok() && hour < 24 && minute < 60 && second <= 60);
  if (!scanner.done()) {
    throw InvalidValue(single_quoted(text) + " is no time: give seconds since 1970, or a time as 2024-05-01T12:00:00Z");
  }
  const auto days = std::chrono::sys_days(date).time_since_epoch();
  return static_cast<double>(days.count()) * 86400 + hour * 3600 + minute * 60 + second + fraction - offset;
}

}  // namespace smd::tool::rule
