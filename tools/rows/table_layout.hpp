// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rows/row_writer.hpp"

namespace smd::tool {

/// A row of a table as it is shown: printable text, and the numbers of its curve, if it has one.
struct TableRow {
  std::vector<std::string> cells;
  std::vector<double> curve;
  std::vector<std::size_t> coloured;  ///< Indices of cells that are not finite.
};

/// Which columns of a table are shown, and how wide. Made from the first rows; later cells that do not fit shift only
/// what follows them in their own row.
class TableLayout {
 public:
  TableLayout(std::span<const Column> columns, bool header, bool ascii, bool color);

  /// Makes the layout from these rows, of which there is at least one. `width`: of the terminal that the table must
  /// fit, if any. A wider table loses the columns whose value is the same in all these rows, unless they were asked
  /// for; one with a curve always does, and the curve fills the line. If it is then still too wide, and `drop`, prose
  /// is broken into lines, and it loses columns that were not asked for, from the right, prose last.
  void make(std::span<const TableRow> rows, std::optional<std::size_t> width, bool drop);
  [[nodiscard]] bool made() const noexcept { return made_; }
  [[nodiscard]] bool has_curve() const noexcept;

  /// `all rows: mode TRAIN, worker worker_0`, with a line end; empty if nothing is left out.
  [[nodiscard]] std::string same_in_all() const;
  /// Without a line end; empty if none was asked for.
  [[nodiscard]] std::string header() const;
  [[nodiscard]] std::string line(const TableRow& row);
  /// What stands below the rows: which columns are left out, and in which some row differs from the first ones.
  [[nodiscard]] std::string below() const;

 private:
  struct TableColumn : Column {
    std::string heading;  // the name, printable
    bool keep = false;    // shown in any case
    bool shown = true;
    std::size_t width = 0;
    std::string same = {};                 // if it is not shown: its value in all rows
    bool dropped = false;                  // not shown, although rows differ
    std::vector<std::string> others = {};  // the first other values of later rows, if it is not shown
  };

  [[nodiscard]] std::size_t total_width() const;
  void leave_out_same(std::span<const TableRow> rows);
  void drop_from_the_right();
  /// Joins parts with `, ` to lines that fit.
  [[nodiscard]] std::string joined(std::string_view beginning, const std::vector<std::string>& parts) const;
  /// The lines of a row without a curve: several if its prose is wider than its column.
  [[nodiscard]] std::string broken(const TableRow& row) const;
  [[nodiscard]] std::string aligned(const std::vector<std::string>& cells,
                                    const std::vector<std::size_t>& coloured) const;

  std::vector<TableColumn> columns_;
  bool with_header_;
  bool ascii_;
  bool color_;
  bool made_ = false;
  std::size_t line_width_ = 0;  // 0: any
};

}  // namespace smd::tool
