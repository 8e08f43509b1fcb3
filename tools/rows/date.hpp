// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "rows/cell.hpp"

namespace smd::tool {

/// `2023-11-14T22:13:20.500000Z`, as RFC 3339 has it. Empty for a time outside the years 1 to 9999.
[[nodiscard]] std::string time_text(double seconds_since_1970);

/// `Column::show` of seconds since 1970: `2023-11-14 22:13:20Z`.
void show_date(std::string& out, const Cell& cell, int precision);

}  // namespace smd::tool
