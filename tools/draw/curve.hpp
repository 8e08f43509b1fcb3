// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace smd::tool {

/// Draws numbers as a curve that is `columns` wide: several numbers in one column are their mean, one number may take
/// several columns; NaN and infinities are marked. Empty if there are no numbers.
[[nodiscard]] std::string curve_text(std::span<const double> numbers, std::size_t columns, bool ascii);

}  // namespace smd::tool
