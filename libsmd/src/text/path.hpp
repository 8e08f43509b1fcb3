// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace smd::text {

/// Returns the last part of a path: `c` of `a/b/c`.
[[nodiscard]] constexpr std::string_view leaf_of(std::string_view path) noexcept {
  return path.substr(path.rfind('/') + 1);
}

/// Returns the folder of a path: `a/b` of `a/b/c`; empty if it has none.
[[nodiscard]] constexpr std::string_view folder_of(std::string_view path) noexcept {
  const std::size_t slash = path.rfind('/');
  return path.substr(0, slash == path.npos ? 0 : slash);
}

}  // namespace smd::text
