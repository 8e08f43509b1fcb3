// SPDX-License-Identifier: Apache-2.0
#include "draw/curve.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

using smd::tool::curve_text;

TEST_CASE("a curve is stretched or gathered to its width") {
  const std::vector<double> two = {0, 1};
  CHECK(curve_text(two, 4, true) == "__##");
  const std::vector<double> eight = {0, 2, 0, 0, 8, 8, 4, 4};  // means of pairs: 1, 0, 8, 4
  CHECK(curve_text(eight, 4, true) == "._#=");                 // eighths of the range: 1, 0, 8 and so the last, 4
  const std::vector<double> with_nan = {0, std::numeric_limits<double>::quiet_NaN(), 1};
  CHECK(curve_text(with_nan, 3, true) == "_!#");
  CHECK(curve_text({}, 3, true).empty());
}
