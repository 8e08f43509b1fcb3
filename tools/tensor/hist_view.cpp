// SPDX-License-Identifier: Apache-2.0
// --hist: bars in a table; elsewhere one row per bin, in JSON one object per value.
#include "cli/text.hpp"
#include "draw/bins.hpp"
#include "histogram.hpp"
#include "rows/row_writer.hpp"
#include "value_view.hpp"

#include <unistd.h>

#include <array>
#include <optional>

namespace smd::tool::tensor {

namespace {

constexpr std::array<Column, 12> columns = {{{"tensor"},
                                             {"step", Align::right},
                                             {"mode"},
                                             {"mode_step", Align::right},
                                             {"worker"},
                                             {"bin", Align::right, true, false},
                                             {"lo", Align::right, true, false},
                                             {"hi", Align::right, true, false},
                                             {"count", Align::right, true, false},
                                             {"edges", Align::left, false, true},
                                             {"counts", Align::left, false, true},
                                             written_column}};

class HistView : public ValueView {
 public:
  explicit HistView(ViewContext context) : context_(context) {
    const OutputOptions& output = context.options.output;
    if (output.format != "table" || output.asks_for_rows()) {
      rows_.emplace(context.out, output, columns, false, context.messages);
      rows_->set_trial(context.trial.name());
    }
  }

  void show(const ValueKey& key, const TensorValue& value) override {
    if (!is_real(value.dtype())) {
      context_.messages.warning(value_name(key) + ": no histogram of type " + std::string(to_string(value.dtype())));
      return;
    }
    const Histogram of = histogram(Elements(value.view()), context_.options.bins);
    if (of.nan + of.inf != 0) {
      context_.messages.warning(value_name(key) + ": " + std::to_string(of.nan) + " NaN and " + std::to_string(of.inf) +
                                " infinite elements are in no bin");
    }
    rows_ ? print_rows(key, of) : draw(key, value, of);
  }

  [[nodiscard]] std::optional<std::size_t> room() const override { return rows_ ? rows_->room() : std::nullopt; }
  void end_step() override { rows_ ? rows_->end_step() : context_.out.flush(); }

  void finish() override {
    if (rows_) {
      rows_->finish();
    }
  }

 private:
  void print_rows(const ValueKey& key, const Histogram& of) {
    const int precision = context_.options.output.precision;
    const std::function<void(OutputFile&)> edges = [&](OutputFile& out) { write_array(out, of.edges, precision); };
    const std::function<void(OutputFile&)> counts = [&](OutputFile& out) { write_array(out, of.counts, precision); };
    const auto row = [&](Cell bin, Cell low, Cell high, Cell count) {
      rows_->row({key.tensor, key.step.value, to_string(key.mode), key.mode_step.value, key.worker, bin, low, high,
                  count, JsonCell{&edges}, JsonCell{&counts}, key.written});
    };
    if (context_.options.output.json()) {
      row({}, {}, {}, {});
      return;
    }
    for (std::size_t bin = 0; bin < of.counts.size(); ++bin) {
      row(bin, of.edges[bin], of.edges[bin + 1], of.counts[bin]);
    }
  }

  void draw(const ValueKey& key, const TensorValue& value, const Histogram& of) {
    const bool ascii = context_.options.output.terminal.ascii;
    std::string text = first_ ? "" : "\n";
    first_ = false;
    text += heading(key, value, ascii) + "\n";
    text += bars(of.edges, of.counts, context_.options.table_precision(4), terminal_width(STDOUT_FILENO), ascii);
    context_.out.write(text);
  }

  ViewContext context_;
  std::optional<RowWriter> rows_;  // none: bars
  bool first_ = true;
};

}  // namespace

std::span<const Column> hist_view_columns() noexcept { return columns; }

std::unique_ptr<ValueView> make_hist_view(ViewContext context) { return std::make_unique<HistView>(context); }

}  // namespace smd::tool::tensor
