// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_definition.hpp"
#include "cli/output_file.hpp"
#include "operands/operands.hpp"
#include "rows/cell.hpp"
#include "rows/output_options.hpp"
#include "rows/row_order.hpp"

namespace smd::tool {

enum class Align : std::uint8_t { left, right };

/// Appends a cell as a table shows it to people: a date for seconds, a list cut short.
using ShowCell = void (*)(std::string& out, const Cell& cell, int precision);

/// A column that a command can print. `trial` is not among a command's columns: RowWriter adds it.
struct Column {
  std::string_view name;
  Align align = Align::left;
  bool in_text = true;      ///< Shown in text formats unless `--columns` chooses; false: only on request.
  bool in_json = true;      ///< The same for JSON.
  bool sort_only = false;   ///< --sort takes it, --columns does not: the order of `PlaceCell`s.
  ShowCell show = nullptr;  ///< In tables; null: as in other text.
  bool asked = false;       ///< Asked for by another option than --columns: kept in a table that is too wide.
  bool curve = false;       ///< Of `CurveCell`s: as wide as there is room.
  bool in_table = true;     ///< As `in_text`, for tables alone.
  bool for_trial = false;   ///< The first column, in place of the trial's: its rows are of several, or of none.
  bool if_any = false;      ///< In tables, unless `--columns` chooses: shown only if some row has a value.
  bool measured = false;    ///< Not left out because all rows have the same, only for want of room.
  bool prose = false;       ///< The last column: broken into lines at blanks in a table that is too wide.
};

/// The column that tells superseded values from those that count; shown if both are.
[[nodiscard]] constexpr Column superseded_column(bool shown) {
  return {"superseded", Align::left, shown, shown, false, nullptr, shown};
}

/// The column of `PlaceCell`s, last in the columns of rows about saved things: only --sort takes it.
inline constexpr Column written_column = {"written", Align::left, false, false, true};

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

class RowFormat;

/// Prints rows of one table in the format asked for. Commands pass whole rows and need not know the format.
///
/// One column in `tsv` or `table` is a bare list: raw bytes (escaped on a terminal), no header, NUL between with -0. In
/// `csv` it is not: readers of CSV take the first line for the header, and names with commas need quotes.
class RowWriter {
 public:
  /// `several_trials` adds the trial column to text. The names of `columns`, `options`, `out` and `messages` must
  /// outlive this.
  /// @throws UsageError for a name in `--columns`, `--sort` or `--where` that is not among the columns, or a format
  /// that is not for rows.
  RowWriter(OutputFile& out, const OutputOptions& options, std::span<const Column> columns, bool several_trials,
            Diagnostics& messages);
  /// A writer for the rows of one of several trials that are visited side by side: holds them, up to some 100 KiB,
  /// until its turn has come, and passes them to `to`. `to` must outlive this object, and `turn` the last row.
  RowWriter(RowWriter& to, Turn& turn);
  ~RowWriter();

  /// Whether a column will be printed, sorted by or compared; otherwise its cells need not be computed.
  [[nodiscard]] bool wants(std::string_view column) const noexcept;
  /// The trial that following rows belong to.
  void set_trial(std::string_view name) { trial_ = name; }
  /// One cell for each column given to the constructor, in that order.
  void row(std::span<const Cell> cells);
  void row(std::initializer_list<Cell> cells) { row(std::span<const Cell>(cells.begin(), cells.size())); }
  /// As `row`, if most cells may not be wanted: `make(i)` returns the cell of column i.
  template <class Make>
  void row_of(const Make& make) {
    made_.resize(columns_.size());
    for (std::size_t i = 0; i < made_.size(); ++i) {
      if (wanted_[i]) {
        made_[i] = make(i);
      }
    }
    row(made_);
  }
  /// Prints the header, if there is one and none was printed, though no row may follow. Not for the writer of one of
  /// several trials.
  void begin();
  /// Whether text that another writer made of rows, with the same options but without a header, can be appended
  /// unchanged.
  [[nodiscard]] bool rows_stand_alone() const noexcept;
  /// Returns the text of such rows with these cells, in which other numbers may stand where `varies`. Nullopt if there
  /// is no such text.
  [[nodiscard]] std::optional<RowPattern> pattern_of(std::span<const Cell> cells, const std::vector<bool>& varies);
  /// Appends the text of `rows` such rows.
  void append(std::string_view text, std::size_t rows);
  /// How many rows came for which --where holds, whether they are printed or not.
  [[nodiscard]] std::size_t rows() const noexcept { return rows_; }
  /// Whether no further row will be printed. What rows would be of is read all the same: it may be damaged.
  [[nodiscard]] bool full() const noexcept { return !sorted_ && limit_ && rows_ >= *limit_; }
  /// For the writer of one of several trials: passes on the rows held, once its turn has come.
  void show();
  /// At the end of a followed step: prints what is held back.
  void end_step();
  /// After the last row (JSON's closing bracket, a table's layout). Must be called; does not close the file.
  void finish();

 private:
  struct HeldRows;
  void hold(std::string&& piece, std::size_t rows);

  [[nodiscard]] std::optional<std::size_t> find_column(std::string_view option, const std::string& name,
                                                       std::string_view hint) const;
  /// The cell of a column in `chosen_`, `sort_by_` or `where_`. @throws UsageError if `option` cannot use it.
  [[nodiscard]] Cell cell_for(std::string_view option, std::span<const Cell> cells,
                              std::optional<std::size_t> index) const;
  /// The cells of the columns chosen; borrows from `cells` and from here.
  std::span<const Cell> chosen(std::span<const Cell> cells);
  void sort(std::span<const Cell> cells);
  void print(std::span<const Cell> chosen);

  OutputFile& out_;
  std::vector<Column> columns_;
  std::vector<std::optional<std::size_t>> chosen_;                          // index into columns_; nullopt: the trial
  std::vector<std::optional<std::size_t>> sort_by_;                         // as in chosen_
  std::optional<SortedRows<std::string>> sorted_;                           // of packed rows
  std::vector<std::pair<std::optional<std::size_t>, RowCondition>> where_;  // as in chosen_
  Diagnostics* messages_ = nullptr;                                         // null if rows are passed on
  std::optional<std::uint64_t> limit_;
  bool json_;
  bool trial_column_ = true;
  std::vector<bool> wanted_;  // whether the column is printed, sorted by or compared
  std::vector<Cell> made_;    // by `row_of`
  std::vector<Cell> picked_;
  std::string trial_;
  std::unique_ptr<RowFormat> format_;  // null if rows are passed on
  std::unique_ptr<HeldRows> held_;     // null otherwise
  std::size_t rows_ = 0;
  bool begun_ = false;
};

/// The columns as a manual page lists them, `trial` first.
[[nodiscard]] ColumnTable column_table(std::string when, std::span<const Column> columns, std::string_view more = {});

/// The formats that RowWriter knows, for `CommandDefinition::formats`: table tsv csv json jsonl.
[[nodiscard]] std::span<const std::string_view> row_format_names() noexcept;

}  // namespace smd::tool
