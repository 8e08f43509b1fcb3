// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "rows/cell.hpp"

namespace smd::tool {

/// `Column::show` of seconds since 1970: `2023-11-14 22:13:20Z`.
void show_date(std::string& out, const Cell& cell, int precision);

}  // namespace smd::tool
