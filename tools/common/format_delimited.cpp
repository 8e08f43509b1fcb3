// SPDX-License-Identifier: Apache-2.0
// Formats of one line a row: tsv, csv, and the bare list of one column.
#include "escape.hpp"
#include "row_format.hpp"
#include "text.hpp"

namespace smd::tool {

namespace {

using Escape = void (*)(std::string& out, std::string_view text);

class DelimitedFormat : public RowFormat {
 public:
  DelimitedFormat(FormatContext context, char separator, Escape escape)
      : context_(std::move(context)), separator_(separator), escape_(escape) {}

  void begin() override {
    if (!context_.options.header) {
      return;
    }
    line_.clear();
    for (const std::string_view name : context_.shape.names) {
      separate();
      escape_(line_, name);
    }
    end_line();
  }

  void row(std::span<const Cell> cells) override {
    line_.clear();
    for (const Cell& cell : cells) {
      separate();
      if (const auto* text = std::get_if<std::string_view>(&cell.value())) {
        escape_(line_, *text);
      } else if (std::holds_alternative<ListCell>(cell.value())) {
        plain_.clear();
        append_text(plain_, cell, context_.options.precision);
        escape_(line_, plain_);
      } else {
        append_text(line_, cell, context_.options.precision);
      }
    }
    end_line();
  }

  void end_step() override { context_.out.flush(); }
  [[nodiscard]] bool rows_stand_alone() const override { return true; }

 private:
  void end_line() {
    line_ += '\n';
    context_.out.write(line_);
    first_ = true;
  }
  void separate() {
    if (!first_) {
      line_ += separator_;
    }
    first_ = false;
  }

  FormatContext context_;
  char separator_;
  Escape escape_;
  bool first_ = true;
  std::string line_;
  std::string plain_;
};

class ListFormat : public RowFormat {
 public:
  explicit ListFormat(FormatContext context)
      : context_(std::move(context)),
        terminal_(context_.out.is_terminal()),
        end_(context_.options.null_separated ? '\0' : '\n') {}

  void begin() override {}

  void row(std::span<const Cell> cells) override {
    line_.clear();
    append_text(line_, cells.front(), context_.options.precision);
    if (terminal_) {
      line_ = printable(line_, context_.options.ascii);
    }
    line_ += end_;
    context_.out.write(line_);
  }

  void end_step() override { context_.out.flush(); }
  [[nodiscard]] bool rows_stand_alone() const override { return true; }

 private:
  FormatContext context_;
  bool terminal_;
  char end_;
  std::string line_;
};

}  // namespace

std::unique_ptr<RowFormat> make_tsv_format(FormatContext context) {
  return std::make_unique<DelimitedFormat>(std::move(context), '\t', append_tsv);
}

std::unique_ptr<RowFormat> make_csv_format(FormatContext context) {
  return std::make_unique<DelimitedFormat>(std::move(context), ',', append_csv);
}

std::unique_ptr<RowFormat> make_list_format(FormatContext context) {
  return std::make_unique<ListFormat>(std::move(context));
}

}  // namespace smd::tool
