// SPDX-License-Identifier: Apache-2.0
#include "rows/row_format.hpp"

#include <doctest/doctest.h>

using smd::tool::find_row_format;
using smd::tool::row_format_names;

TEST_CASE("every format in the list can be made") {
  for (const std::string_view name : row_format_names()) {
    CHECK(static_cast<bool>(find_row_format(name, 2)));
  }
  CHECK_FALSE(static_cast<bool>(find_row_format("npy", 2)));
}
