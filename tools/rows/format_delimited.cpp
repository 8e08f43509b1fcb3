// SPDX-License-Identifier: Apache-2.0
// Formats of one line a row: tsv, csv, and the bare list of one column.
#include "cli/escape.hpp"
#include "cli/text.hpp"
#include "rows/row_format.hpp"

#include <fmt/format.h>

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
  DelimitedFormat(FormatContext context, bool header, char separator, char end, Escape escape)
      : context_(std::move(context)),
        header_(header),
        separator_(separator),
        end_(end),
        escape_(escape),
        terminal_(context_.out.is_terminal()) {}

  void begin() override {
    if (!header_) {
      return;
    }
    line_.clear();
    for (std::size_t i = 0; i < context_.columns.size(); ++i) {
      separate(i);
      put(context_.columns[i].name);
    }
    end_line();
  }

  void row(std::span<const Cell> cells) override {
    line_.clear();
    for (std::size_t i = 0; i < cells.size(); ++i) {
      separate(i);
      put_cell(cells[i]);
    }
    end_line();
  }

  std::optional<RowPattern> pattern(std::span<const Cell> cells, const std::vector<bool>& varies) override {
    RowPattern pattern;
    pattern.precision = context_.options.precision;
    line_.clear();
    for (std::size_t i = 0; i < cells.size(); ++i) {
      separate(i);
      if (varies[i]) {
        pattern.numbers.push_back({fmt::to_string(line_), i});
        line_.clear();
      } else {
        put_cell(cells[i]);
      }
    }
    line_.push_back(end_);
    pattern.end = fmt::to_string(line_);
    return pattern;
  }

  void end_step() override { context_.out.flush(); }
  [[nodiscard]] bool rows_stand_alone() const override { return true; }

 private:
  void put_cell(const Cell& cell) {
    std::visit(
        [&]<class Value>(const Value& value) {
          if constexpr (requires(char* out) { write_number(out, value, 0); }) {
            const std::size_t begin = line_.size();
            line_.resize(begin + number_chars);
            char* const end = write_number(line_.data() + begin, value, context_.options.precision);
            line_.resize(static_cast<std::size_t>(end - line_.data()));
          } else if constexpr (std::is_same_v<Value, std::string_view>) {
            put(value);
          } else {
            plain_.clear();
            append_text(plain_, cell, context_.options.precision);
            put(plain_);
          }
        },
        cell.value());
  }
  void put(std::string_view text) {
    if (!terminal_ && !escape_.needed(text)) {
      line_.append(text);
      return;
    }
    escaped_.clear();
    if (terminal_) {
      escape_.append_shown(escaped_, text, context_.options.terminal.ascii);
    } else {
      escape_.append(escaped_, text);
    }
    line_.append(escaped_);
  }
  void end_line() {
    line_.push_back(end_);
    context_.out.write({line_.data(), line_.size()});
  }
  void separate(std::size_t column) {
    if (column != 0) {
      line_.push_back(separator_);
    }
  }

  FormatContext context_;
  bool header_;
  char separator_;
  char end_;
  Escape escape_;
  bool terminal_;
  fmt::memory_buffer line_;  // numbers are written in place, and memory is reused
  std::string plain_;
  std::string escaped_;
};

}  // namespace

std::unique_ptr<RowFormat> make_tsv_format(FormatContext context) {
  const bool header = context.options.header;
  return std::make_unique<DelimitedFormat>(std::move(context), header, '\t', '\n',
                                           Escape{tsv_needs_escapes, append_tsv, append_tsv_shown});
}

std::unique_ptr<RowFormat> make_csv_format(FormatContext context) {
  const bool header = context.options.header;
  return std::make_unique<DelimitedFormat>(std::move(context), header, ',', '\n',
                                           Escape{csv_needs_quotes, append_csv, append_csv_shown});
}

std::unique_ptr<RowFormat> make_list_format(FormatContext context) {
  const char end = context.options.null_separated ? '\0' : '\n';
  const auto never = [](std::string_view) noexcept { return false; };
  return std::make_unique<DelimitedFormat>(std::move(context), false, '\t', end,
                                           Escape{never, append_tsv, append_printable});
}

}  // namespace smd::tool
