// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smd::detail {

/// Up to `most` of `names` that a person may have meant by `typed`, best first: by edit distance without regard to
/// case, at most a third of its length away, or holding it as a part.
[[nodiscard]] std::vector<std::string> nearest(std::string_view typed, std::span<const std::string_view> names,
                                               std::size_t most = 3);

/// Up to `most` of `names` of which a part is like `part`, best first, then the shortest: by the edit distance to the
/// nearest part of the name without regard to case, at most a quarter of the length of `part`.
[[nodiscard]] std::vector<std::string> nearest_holding(std::string_view part, std::span<const std::string_view> names,
                                                       std::size_t most = 3);

}  // namespace smd::detail
