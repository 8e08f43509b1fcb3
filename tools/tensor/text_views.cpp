// SPDX-License-Identifier: Apache-2.0
// Arrays as text: table and --matrix.
#include "array_text.hpp"
#include "cli/escape.hpp"
#include "rows/row_writer.hpp"
#include "value_view.hpp"

#include <unistd.h>

#include <optional>
#include <utility>

namespace smd::tool::tensor {

namespace {

// Single numbers are held back until an array comes, but not more of them than this.
constexpr std::size_t most_held = 4096;

/// table: arrays as NumPy prints them, under a heading each; if there are only single numbers, one table of them.
class TableView : public ValueView {
 public:
  explicit TableView(ViewContext context) : context_(context), ascii_(context.options.output.terminal.ascii) {}

  void show(const ValueKey& key, const TensorValue& value) override {
    if (value.view().size() == 1 && !arrays_) {
      held_.emplace_back(key, value);
      if (held_.size() == most_held) {
        print_held_as_rows();
      }
      return;
    }
    if (rows_) {  // an array, after that many numbers
      print_held_as_rows();
      rows_->finish();
      rows_.reset();
      last_ = Printed::number;
    }
    arrays_ = true;
    for (const auto& [of, number] : held_) {
      print(of, number);
    }
    held_.clear();
    print(key, value);
  }

  void end_trial() override { print_held_as_rows(); }

  void end_step() override {
    print_held_as_rows();
    if (rows_) {
      rows_->end_step();
    }
    context_.out.flush();
  }

  void finish() override {
    if (rows_) {
      rows_->finish();
    }
  }

 private:
  enum class Printed : std::uint8_t { nothing, number, array };

  void print_held_as_rows() {
    if (held_.empty()) {
      return;
    }
    if (!rows_) {
      rows_.emplace(context_.out, context_.options.output, with_key_columns({{"value", Align::right}}),
                    context_.several_trials, context_.messages);
    }
    rows_->set_trial(trial_);
    for (const auto& [key, value] : held_) {
      rows_->row(with_key_cells(key, {Elements(value.view(), Elements::NotText::sized).cell(0)}));
    }
    held_.clear();
  }

  void print(const ValueKey& key, const TensorValue& value) {
    const Elements elements(value.view(), Elements::NotText::sized);
    const int precision = context_.options.table_precision();
    const Printed now = value.view().size() == 1 ? Printed::number : Printed::array;
    if (last_ == Printed::array || (last_ == Printed::number && now == Printed::array)) {
      context_.out.put('\n');
    }
    last_ = now;
    context_.out.write(heading(key, value, ascii_));
    if (now == Printed::number) {
      context_.out.write(" = " + element_text(elements.cell(0), precision, ascii_) + "\n");
      return;
    }
    context_.out.put('\n');
    const ArrayTextOptions text = {
        .precision = precision, .full = context_.options.full, .ascii = ascii_, .width = terminal_width(STDOUT_FILENO)};
    print_array(elements, text, [&](std::string_view line) {
      context_.out.write(line);
      context_.out.put('\n');
    });
  }

  ViewContext context_;
  bool ascii_;
  bool arrays_ = false;
  Printed last_ = Printed::nothing;
  std::vector<std::pair<ValueKey, TensorValue>> held_;
  std::optional<RowWriter> rows_;
};

/// --matrix: bare numbers for programs that read tables of them. Tabs between, commas with --csv.
class MatrixView : public ValueView {
 public:
  explicit MatrixView(ViewContext context) : context_(context) {}

  [[nodiscard]] bool plans() const override { return true; }
  void announce(const ValueKey& key) override { one_.announce(key); }

  void show(const ValueKey& key, const TensorValue& value) override {
    const Elements elements(value.view());
    warn_unless_utf8(elements, key, context_.messages);
    const bool csv = context_.options.output.format == "csv";
    const auto append = csv ? append_csv : append_tsv;
    const auto append_shown = csv ? append_csv_shown : append_tsv_shown;
    const bool terminal = context_.out.is_terminal();
    const bool ascii = context_.options.output.terminal.ascii;
    const Shape& shape = value.shape();
    const std::uint64_t columns = shape.empty() ? 1 : static_cast<std::uint64_t>(shape.back());
    const std::uint64_t rows = shape.size() < 2 ? 1 : static_cast<std::uint64_t>(shape[shape.size() - 2]);
    const std::uint64_t size = value.view().size();
    std::string text;
    std::string line;
    for (std::uint64_t place = 0; place < size; ++place) {
      text.clear();
      append_text(text, elements.cell(place), context_.options.output.precision);
      if (terminal) {
        append_shown(line, text, ascii);
      } else {
        append(line, text);
      }
      if ((place + 1) % columns != 0) {
        line += csv ? ',' : '\t';
        continue;
      }
      line += '\n';
      // A blank line between planes of the last two axes.
      if (place + 1 != size && (place + 1) / columns % rows == 0) {
        line += '\n';
      }
      context_.out.write(line);
      line.clear();
    }
  }

 private:
  ViewContext context_;
  OneValue one_{"--matrix", "choose one by name, -s and -w"};
};

}  // namespace

std::unique_ptr<ValueView> make_table_view(ViewContext context) { return std::make_unique<TableView>(context); }

std::unique_ptr<ValueView> make_matrix_view(ViewContext context) { return std::make_unique<MatrixView>(context); }

}  // namespace smd::tool::tensor
