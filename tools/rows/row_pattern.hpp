// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace smd::tool {

/// The text of rows that differ only in some numbers.
struct RowPattern {
  struct Number {
    std::string before;      ///< The text between it and the number before, or the beginning of the row.
    std::size_t column = 0;  ///< Where it stands among the cells.
  };
  std::vector<Number> numbers;  ///< In the order of the text.
  std::string end;              ///< The text behind the last number, with the end of the line.
  int precision = 0;            ///< Of the numbers.
};

}  // namespace smd::tool
