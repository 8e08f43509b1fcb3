// SPDX-License-Identifier: Apache-2.0
// table: columns aligned for a person. Nothing is cut.
#include "row_format.hpp"
#include "terminal.hpp"
#include "text.hpp"

#include <unistd.h>

#include <algorithm>

namespace smd::tool {

namespace {

constexpr int default_precision = 6;
// Rows are held back to find the columns' widths, but only so many: what follows widens a column where it must.
constexpr std::size_t held_rows = 4096;

class TableFormat : public RowFormat {
 public:
  explicit TableFormat(FormatContext context)
      : context_(std::move(context)),
        precision_(context_.options.precision > 0 ? context_.options.precision : default_precision),
        color_(!context_.options.file && use_color(context_.options.color, STDOUT_FILENO)),
        widths_(context_.shape.names.size(), 0) {}

  void begin() override {
    if (context_.options.header) {
      for (const std::string_view name : context_.shape.names) {
        append_printable(cells_.emplace_back(), name, context_.options.ascii);
      }
      measure();
      header_held_ = true;
    }
  }

  void row(std::span<const Cell> cells) override {
    for (const Cell& cell : cells) {
      plain_.clear();
      append_text(plain_, cell, precision_);
      append_printable(cells_.emplace_back(), plain_, context_.options.ascii);
    }
    measure();
    if (cells_.size() >= held_rows * widths_.size()) {
      print();
    }
  }

  void end_step() override {
    print();
    context_.out.flush();
  }

  void end() override { print(); }

 private:
  // Takes the row that was just added into the widths.
  void measure() {
    for (std::size_t i = 0; i < widths_.size(); ++i) {
      widths_[i] = std::max(widths_[i], display_width(cells_[cells_.size() - widths_.size() + i]));
    }
  }

  void print() {
    const std::size_t count = widths_.size();
    for (std::size_t at = 0; at + count <= cells_.size(); at += count) {
      const bool bold = header_held_ && color_;
      plain_.assign(bold ? "\x1b[1m" : "");
      for (std::size_t i = 0; i < count; ++i) {
        const std::string& cell = cells_[at + i];
        const std::size_t padding = widths_[i] - display_width(cell);
        plain_.append(i == 0 ? 0 : 2, ' ');
        plain_.append(context_.shape.aligns[i] == Align::right ? padding : 0, ' ');
        plain_ += cell;
        plain_.append(context_.shape.aligns[i] == Align::left && i + 1 < count ? padding : 0, ' ');
      }
      plain_ += bold ? "\x1b[0m\n" : "\n";
      context_.out.write(plain_);
      header_held_ = false;
    }
    cells_.clear();
  }

  FormatContext context_;
  int precision_;
  bool color_;
  bool header_held_ = false;
  std::vector<std::size_t> widths_;
  std::vector<std::string> cells_;  // row by row
  std::string plain_;
};

}  // namespace

std::unique_ptr<RowFormat> make_table_format(FormatContext context) {
  return std::make_unique<TableFormat>(std::move(context));
}

}  // namespace smd::tool
