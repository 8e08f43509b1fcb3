// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace smd::tool {

/// A line with a name (padded to `name_width`), the curve of some numbers, and their last, least and greatest.
/// Precondition: there are numbers.
[[nodiscard]] std::string curve_line(const std::string& name, std::size_t name_width,
                                     const std::vector<double>& numbers, std::int64_t first_step,
                                     std::int64_t last_step, int precision, std::size_t width, bool ascii);

}  // namespace smd::tool
