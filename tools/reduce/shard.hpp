// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace smd::tool::reduce {

/// One of so many parts of the work.
struct Shard {
  std::uint64_t index = 1;  ///< From 1.
  std::uint64_t count = 1;

  /// `I/N`, `auto` or `auto/N`: the place that a scheduler's environment tells, as the help says.
  /// @throws InvalidValue.
  static Shard parse(const std::string& text);

  /// The half-open range of this part of so many things: parts in a row, their sizes differing by one at most.
  [[nodiscard]] std::pair<std::size_t, std::size_t> range(std::size_t things) const noexcept;
};

}  // namespace smd::tool::reduce
