// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smd::detail {

/// Returns a name with its ASCII letters in lower case.
[[nodiscard]] std::string folded(std::string_view name);

/// Returns the optimal string alignment distance: how many insertions, deletions, substitutions and swaps of neighbours
/// turn `a` into `b`, ignoring the case of ASCII letters. Takes time proportional to the product of the lengths.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// Returns up to `most` of `names` that a person may have meant by `typed`, best first: names within an edit distance
/// of a third of the longer one's length (at least 1), ignoring case, then names that contain it. The messages of the
/// commands and of the libraries suggest the same names.
[[nodiscard]] std::vector<std::string> nearest(std::string_view typed, std::span<const std::string_view> names,
                                               std::size_t most = 3);
[[nodiscard]] std::vector<std::string> nearest(std::string_view typed, std::span<const std::string> names,
                                               std::size_t most = 3);

/// Returns `; did you mean 'a', 'b' or 'c'?`, not escaped; empty if there are no names.
[[nodiscard]] std::string did_you_mean(std::span<const std::string> names);

/// Returns up to `most` of `names` that contain a part similar to `part`, best first, then shortest: the edit distance
/// to the nearest part of the name, ignoring case, is at most a quarter of the length of `part`.
[[nodiscard]] std::vector<std::string> nearest_holding(std::string_view part, std::span<const std::string_view> names,
                                                       std::size_t most = 3);

}  // namespace smd::detail
