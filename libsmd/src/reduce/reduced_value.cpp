// SPDX-License-Identifier: Apache-2.0
#include <smd/reduction.hpp>

#include "reduce/int128.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace smd {

std::string to_string(const ReducedValue& value) {
  const auto shortest = [](double number) {
    if (std::isnan(number)) {
      return std::string("nan");
    }
    std::array<char, 32> digits;
    const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), number);
    return error == std::errc() ? std::string(digits.data(), end) : std::string();
  };
  switch (value.kind) {
    case ReducedValue::Kind::real:
      return shortest(value.real);
    case ReducedValue::Kind::complex:
      return "(" + shortest(value.real) + "," + shortest(value.imaginary) + ")";
    case ReducedValue::Kind::integer: {
      const bool negative = value.high < 0;
      auto rest = (static_cast<detail::reduce::Uint128>(static_cast<std::uint64_t>(value.high)) << 64) | value.low;
      rest = negative ? ~rest + 1 : rest;
      std::string text;
      do {
        text.push_back(static_cast<char>('0' + static_cast<int>(rest % 10)));
        rest /= 10;
      } while (rest != 0);
      if (negative) {
        text.push_back('-');
      }
      std::reverse(text.begin(), text.end());
      return text;
    }
    case ReducedValue::Kind::undefined:
      break;
  }
  return {};
}

}  // namespace smd
