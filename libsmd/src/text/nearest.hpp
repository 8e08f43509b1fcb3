// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smd::detail {

/// Returns up to `most` of `names` that a person may have meant by `typed`, best first: names within an edit distance
/// of a third of the longer one's length (at least 1), ignoring case, then names that contain it. The messages of the
/// commands and of the libraries suggest the same names.
[[nodiscard]] std::vector<std::string> nearest(std::string_view typed, std::span<const std::string_view> names,
                                               std::size_t most = 3);

/// Returns up to `most` of `names` that contain a part similar to `part`, best first, then shortest: the edit distance
/// to the nearest part of the name, ignoring case, is at most a quarter of the length of `part`.
[[nodiscard]] std::vector<std::string> nearest_holding(std::string_view part, std::span<const std::string_view> names,
                                                       std::size_t most = 3);

}  // namespace smd::detail
