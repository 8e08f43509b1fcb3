// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smd::tool {

/// `--bins N[:LO:HI]`.
struct BinSpec {
  std::uint64_t count = 10;
  std::optional<double> low;  ///< Both or neither.
  std::optional<double> high;

  /// @throws InvalidValue.
  static BinSpec parse(std::string_view text);
};

/// Counts in bins, or estimates of them, as bars, one line each, with the bounds before them. `edges` has one element
/// more than `counts`.
[[nodiscard]] std::string bars(const std::vector<double>& edges, const std::vector<double>& counts, int precision,
                               std::size_t width, bool ascii);

}  // namespace smd::tool
