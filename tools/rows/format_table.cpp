// SPDX-License-Identifier: Apache-2.0
// table: columns aligned for a person. No cell is cut; a table wider than the terminal prints once, above its rows,
// what is the same in all of them, and below them which columns are left out.
#include "cli/terminal.hpp"
#include "cli/text.hpp"
#include "rows/row_format.hpp"
#include "rows/table_layout.hpp"

#include <unistd.h>

namespace smd::tool {

namespace {

constexpr int default_precision = 6;
// How many rows are held back for the layout; later rows keep to it.
constexpr std::size_t held_rows = 1000;

class TableFormat : public RowFormat {
 public:
  explicit TableFormat(FormatContext context)
      : context_(std::move(context)),
        precision_(context_.options.precision > 0 ? context_.options.precision : default_precision),
        color_(!context_.options.file && use_color(context_.options.terminal.color, STDOUT_FILENO)),
        layout_(context_.columns, context_.options.header, context_.options.terminal.ascii, color_) {}

  void row(std::span<const Cell> cells) override {
    TableRow& row = rows_.emplace_back();
    for (std::size_t i = 0; i < cells.size(); ++i) {
      std::string& shown = row.cells.emplace_back();
      if (const auto* curve = std::get_if<CurveCell>(&cells[i].value()); curve != nullptr) {
        row.curve.assign(curve->numbers.begin(), curve->numbers.end());
        continue;
      }
      plain_.clear();
      if (const ShowCell show = context_.columns[i].show; show != nullptr) {
        show(plain_, cells[i], precision_);
      } else {
        append_text(plain_, cells[i], precision_);
      }
      append_printable(shown, plain_, context_.options.terminal.ascii);
      if ((plain_ == "nan" || plain_ == "inf" || plain_ == "-inf") &&
          !std::holds_alternative<std::string_view>(cells[i].value())) {
        row.coloured.push_back(i);
      }
    }
    if (rows_.size() >= held_rows || layout_.made()) {
      print();
    }
  }

  void end_step() override {
    print();
    context_.out.flush();
  }

  void end() override {
    print();
    context_.out.write(layout_.below());
  }

 private:
  void print() {
    if (!layout_.made() && !rows_.empty()) {
      lay_out();
    }
    for (const TableRow& row : rows_) {
      context_.out.write(layout_.line(row));
    }
    rows_.clear();
  }

  void lay_out() {
    const bool terminal = context_.out.is_terminal();
    layout_.make(rows_, terminal || layout_.has_curve() ? std::optional(terminal_width(STDOUT_FILENO)) : std::nullopt,
                 terminal);
    context_.out.write(layout_.same_in_all());
    if (const std::string header = layout_.header(); !header.empty()) {
      context_.out.write(color_ ? "\x1b[1m" + header + "\x1b[0m\n" : header + "\n");
    }
  }

  FormatContext context_;
  int precision_;
  bool color_;
  TableLayout layout_;
  std::vector<TableRow> rows_;
  std::string plain_;
};

}  // namespace

std::unique_ptr<RowFormat> make_table_format(FormatContext context) {
  return std::make_unique<TableFormat>(std::move(context));
}

}  // namespace smd::tool
