// SPDX-License-Identifier: Apache-2.0
#include "cli/exit_status.hpp"

#include <doctest/doctest.h>

#include <vector>

using smd::tool::combine;
using smd::tool::ExitStatus;

TEST_CASE("several statuses combine by the contract's order, whichever comes first") {
  // The contract: 2, 3, 4, 1, 5, 0 in this order, and 124 only if none of 2 to 4 applies; 6, an answer, comes after 1.
  const std::vector<int> order = {2, 3, 4, 124, 1, 6, 5, 0};
  for (std::size_t a = 0; a < order.size(); ++a) {
    for (std::size_t b = 0; b < order.size(); ++b) {
      CAPTURE(order[a]);
      CAPTURE(order[b]);
      const int expected = order[a < b ? a : b];
      CHECK(static_cast<int>(combine(ExitStatus(order[a]), ExitStatus(order[b]))) == expected);
    }
  }
}
