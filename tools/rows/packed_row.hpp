// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "rows/cell.hpp"

namespace smd::tool {

/// The cells of a row in one piece of memory, with all that they borrow. A `JsonCell` is written out if `json`; else it
/// becomes missing, as text formats show it.
[[nodiscard]] std::string pack_row(std::span<const Cell> cells, bool json);

/// Restores the cells of a packed row.
class UnpackedRow {
 public:
  /// Valid until the next call, and as long as `packed` is.
  std::span<const Cell> cells(std::string_view packed);

 private:
  template <class Item>
  using Lists = std::deque<std::vector<Item>>;

  std::vector<Cell> cells_;
  std::tuple<Lists<std::string>, Lists<std::int64_t>, Lists<double>> lists_;  // that cells borrow
};

}  // namespace smd::tool
