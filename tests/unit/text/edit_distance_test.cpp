// SPDX-License-Identifier: Apache-2.0
#include "text/edit_distance.hpp"

#include <doctest/doctest.h>

using smd::text::edit_distance;

TEST_CASE("insertions, deletions, changes and swaps of neighbours count one each") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("loss", "LOSS") == 0);
  CHECK(edit_distance("los", "loss") == 1);
  CHECK(edit_distance("losss", "loss") == 1);
  CHECK(edit_distance("lost", "loss") == 1);
  CHECK(edit_distance("lsos", "loss") == 1);
  CHECK(edit_distance("", "bias") == 4);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("ca", "abc") == 3);  // a swapped pair is not edited again
}
