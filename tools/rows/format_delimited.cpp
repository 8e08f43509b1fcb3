// SPDX-License-Identifier: Apache-2.0
// Formats of one line a row: tsv, csv, and the bare list of one column.
#include "cli/escape.hpp"
#include "cli/text.hpp"
#include "rows/row_format.hpp"

namespace smd::tool {

namespace {

/// How a format writes text that it cannot write as it is.
struct Escape {
  bool (*needed)(std::string_view text) noexcept;
  void (*append)(std::string& out, std::string_view text);
  void (*append_shown)(std::string& out, std::string_view text, bool ascii);  // on a terminal
};

class DelimitedFormat : public RowFormat {
 public:
  /// `list`: of one column, without a header.
  DelimitedFormat(FormatContext context, char separator, Escape escape, bool list = false)
      : context_(std::move(context)),
        header_(!list && context_.options.header),
        separator_(separator),
        end_(list && context_.options.null_separated ? '\0' : '\n'),
        escape_(escape),
        terminal_(context_.out.is_terminal()) {}

  void begin() override {
    if (!header_) {
      return;
    }
    line_.clear();
    for (const Column& column : context_.columns) {
      separate();
      put(column.name);
    }
    end_line();
  }

  void row(std::span<const Cell> cells) override {
    line_.clear();
    for (const Cell& cell : cells) {
      separate();
      std::visit([&](const auto& value) { put(cell, value); }, cell.value());
    }
    end_line();
  }

  std::optional<RowPattern> pattern(std::span<const Cell> cells, const std::vector<bool>& varies) override {
    RowPattern pattern;
    pattern.precision = context_.options.precision;
    line_.clear();
    for (std::size_t i = 0; i < cells.size(); ++i) {
      separate();
      if (varies[i]) {
        pattern.numbers.push_back({std::exchange(line_, {}), i});
      } else {
        std::visit([&](const auto& value) { put(cells[i], value); }, cells[i].value());
      }
    }
    first_ = true;
    line_ += end_;
    pattern.end = line_;
    return pattern;
  }

  void end_step() override { context_.out.flush(); }
  [[nodiscard]] bool rows_stand_alone() const override { return true; }

 private:
  template <class Value>
  void put(const Cell& cell, const Value& value) {
    if constexpr (requires(char* out) { write_number(out, value, 0); }) {
      char text[number_chars];
      line_.append(text, write_number(text, value, context_.options.precision));
    } else if constexpr (std::is_same_v<Value, std::string_view>) {
      put(value);
    } else {
      plain_.clear();
      append_text(plain_, cell, context_.options.precision);
      put(plain_);
    }
  }
  void put(std::string_view text) {
    if (!terminal_ && !escape_.needed(text)) {
      line_ += text;
      return;
    }
    escaped_.clear();
    if (terminal_) {
      escape_.append_shown(escaped_, text, context_.options.terminal.ascii);
    } else {
      escape_.append(escaped_, text);
    }
    line_ += escaped_;
  }
  void end_line() {
    line_ += end_;
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
  bool header_;
  char separator_;
  char end_;
  Escape escape_;
  bool terminal_;
  bool first_ = true;
  std::string line_;
  std::string plain_;
  std::string escaped_;
};

}  // namespace

std::unique_ptr<RowFormat> make_tsv_format(FormatContext context) {
  return std::make_unique<DelimitedFormat>(std::move(context), '\t',
                                           Escape{tsv_needs_escapes, append_tsv, append_tsv_shown});
}

std::unique_ptr<RowFormat> make_csv_format(FormatContext context) {
  return std::make_unique<DelimitedFormat>(std::move(context), ',',
                                           Escape{csv_needs_quotes, append_csv, append_csv_shown});
}

std::unique_ptr<RowFormat> make_list_format(FormatContext context) {
  const auto never = [](std::string_view) noexcept { return false; };
  return std::make_unique<DelimitedFormat>(std::move(context), '\t', Escape{never, append_tsv, append_printable}, true);
}

}  // namespace smd::tool
