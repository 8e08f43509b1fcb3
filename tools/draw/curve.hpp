// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace smd::tool {

/// A curve of some numbers, so many columns wide: several numbers in one column are their mean, one number may take
/// several columns; NaN and infinities are marked. No numbers: empty.
[[nodiscard]] std::string curve_text(std::span<const double> numbers, std::size_t columns, bool ascii);

}  // namespace smd::tool
