// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/number_format.hpp"
#include "cli/output_file.hpp"
#include "rows/elements.hpp"

#include <cstddef>
#include <functional>
#include <string_view>

namespace smd::tool::tensor {

struct ArrayTextOptions {
  int precision = 6;
  bool full = false;       ///< Never leave anything out.
  bool ascii = false;      ///< `...` in place of `…`.
  std::size_t width = 80;  ///< Lines are broken to fit, where they can be.
};

/// An array of at most this many elements is shown whole; of a larger one, `shown_edge` at each end of each axis.
inline constexpr std::uint64_t shown_whole = 1000;
inline constexpr std::int64_t shown_edge = 3;

/// An array as NumPy prints it, line by line without line ends: nested brackets, columns aligned, blank lines between
/// planes. A scalar is one bare number.
void print_array(const Elements& elements, const ArrayTextOptions& options,
                 const std::function<void(std::string_view line)>& print);

/// One element as a table shows it; strings in quotes.
[[nodiscard]] std::string element_text(const Cell& cell, int precision, bool ascii);

/// A value as nested JSON arrays; a scalar as itself.
///
/// Without elements, as NumPy's `tolist`: `[[], []]` for 2x0. A shape that would make millions of empty arrays becomes
/// `[]`; the shape has a key of its own.
void write_json_value(OutputFile& out, const Elements& elements, int precision, NonFinite style);

}  // namespace smd::tool::tensor
