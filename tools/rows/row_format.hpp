// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "rows/row_writer.hpp"

namespace smd::tool {

/// One output format of rows. A new one is a file that makes one, and a line in `row_format.cpp`.
class RowFormat {
 public:
  virtual ~RowFormat() = default;
  virtual void begin() {}
  virtual void row(std::span<const Cell> cells) = 0;
  /// Prints whatever is still held back.
  virtual void end_step() {}
  virtual void end() {}
  /// The text of all rows with these cells, in which other numbers may stand where `varies`. Nullopt if the format has
  /// no such text.
  [[nodiscard]] virtual std::optional<RowPattern> pattern(std::span<const Cell> /*cells*/,
                                                          const std::vector<bool>& /*varies*/) {
    return std::nullopt;
  }
  /// Whether the text of a row is the same whatever rows precede it.
  [[nodiscard]] virtual bool rows_stand_alone() const { return false; }
};

/// What a format is made from; everything outlives the format.
struct FormatContext {
  OutputFile& out;
  const OutputOptions& options;
  Diagnostics& messages;
  std::vector<Column> columns;  ///< That are printed; those `asked` for even if all rows have the same value.
};

using MakeRowFormat = std::unique_ptr<RowFormat> (*)(FormatContext context);

/// The maker of a format; null if there is none. `columns` decides between a list and a table.
[[nodiscard]] MakeRowFormat find_row_format(std::string_view name, std::size_t columns) noexcept;

std::unique_ptr<RowFormat> make_table_format(FormatContext context);
std::unique_ptr<RowFormat> make_tsv_format(FormatContext context);
std::unique_ptr<RowFormat> make_csv_format(FormatContext context);
std::unique_ptr<RowFormat> make_json_format(FormatContext context);
std::unique_ptr<RowFormat> make_list_format(FormatContext context);

}  // namespace smd::tool
