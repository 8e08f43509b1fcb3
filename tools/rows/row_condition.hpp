// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "cli/comparison.hpp"
#include "rows/cell.hpp"

namespace smd::detail {
class Pattern;
}

namespace smd::tool {

/// A condition of --where on one cell of a row. A value that is missing never meets it.
///
/// Numbers are compared as numbers of the cell's type, so that a float32 that prints as 0.1 equals 0.1; nan equals nan,
/// and is neither less nor greater than anything. All else is compared by its text: `=` byte by byte, `<` in natural
/// order, and `~` searches a pattern.
class RowCondition {
 public:
  /// @throws UsageError for a pattern that does not compile.
  explicit RowCondition(const Comparison& comparison);

  [[nodiscard]] bool holds(const Cell& cell);

 private:
  Comparison comparison_;
  std::optional<double> number_;              // what the value is as a number
  std::shared_ptr<detail::Pattern> pattern_;  // null for other relations
  std::string text_;
};

}  // namespace smd::tool
