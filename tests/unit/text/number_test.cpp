// SPDX-License-Identifier: Apache-2.0
#include "text/number.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>

using namespace smd;

TEST_CASE("a number beyond a double is infinity or zero, wherever its point and exponent are") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const std::string zeros(6000, '0');
  for (const std::string sign : {"", "-"}) {
    CAPTURE(sign);
    const double one = sign.empty() ? 1 : -1;
    for (const std::string& large : {std::string("1e400"), std::string("1e+400"), "1" + zeros, "1" + zeros + "e-5",
                                     std::string("0.001e5000"), std::string("1e99999999999999999999")}) {
      CHECK(text::number_of(sign + large) == one * infinity);
    }
    for (const std::string& small : {std::string("1e-400"), "0." + zeros + "1", "0." + zeros + "1e5",
                                     std::string("1000e-5000"), std::string("1e-99999999999999999999")}) {
      const auto zero = text::number_of(sign + small);
      REQUIRE(zero);
      CHECK(1 / *zero == one * infinity);
    }
  }
}
