// SPDX-License-Identifier: Apache-2.0
// --hist: bars in a table, charts in -f svg; elsewhere one row per bin, in JSON one object per value.
#include "cli/text.hpp"
#include "draw/bins.hpp"
#include "histogram.hpp"
#include "rows/buckets.hpp"
#include "rows/histogram_charts.hpp"
#include "rows/row_writer.hpp"
#include "value_view.hpp"

#include <unistd.h>
#include <smd/reduction.hpp>

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

constexpr std::size_t most_bars = 30;  // of saved buckets

class HistView : public ValueView {
 public:
  explicit HistView(ViewContext context) : context_(context) {
    const OutputOptions& output = context.options.output;
    if (context.options.svg()) {
      charts_.emplace();
    } else if (output.format != "table" || output.asks_for_rows()) {
      rows_.emplace(context.out, output, columns, context.several_trials, context.messages);
    }
  }

  void set_trial(std::string_view name) override {
    if (charts_) {
      charts_->set_trial(name);
    } else if (rows_) {
      rows_->set_trial(name);
    }
  }

  void show(const ValueKey& key, const TensorValue& value) override {
    if (key.buckets) {
      show_buckets(key, value);
      return;
    }
    if (!is_real(value.dtype())) {
      context_.messages.warning(value_name(key) + ": no histogram of type " + std::string(to_string(value.dtype())));
      return;
    }
    const BinCounts of = histogram(Elements(value.view()), context_.options.bins);
    if (of.nan + of.inf != 0) {
      context_.messages.warning(value_name(key) + ": " + std::to_string(of.nan) + " NaN and " + std::to_string(of.inf) +
                                " infinite elements are in no bin");
    }
    const std::vector<double> counts(of.counts.begin(), of.counts.end());
    rows_ ? print_rows(key, of.edges, of.counts)
          : draw(key, heading(key, value, context_.options.output.terminal.ascii), of.edges, counts);
  }

  [[nodiscard]] std::optional<std::size_t> room() const override { return rows_ ? rows_->room() : std::nullopt; }
  void end_step() override { rows_ ? rows_->end_step() : context_.out.flush(); }

  void finish() override {
    if (rows_) {
      rows_->finish();
    } else if (charts_) {
      write_charts(context_.out, charts_->charts(), context_.options.picture, "choose tensors with -n or -e");
    }
  }

 private:
  // Shows the buckets as they were saved, unless --bins asks for others, or there would be too many bars.
  void show_buckets(const ValueKey& key, const TensorValue& value) {
    const std::optional<BucketCounts> saved = counts_of_buckets(value.view());
    if (!saved) {
      context_.messages.fail("Damaged", value_name(key) + ": the buckets of its saved histogram do not ascend",
                             ExitStatus::damaged);
      return;
    }
    const std::size_t buckets = saved->counts.size();
    const bool as_saved = !context_.options.bins_given && (rows_ || charts_ || (buckets != 0 && buckets <= most_bars));
    const BucketCounts of = as_saved ? *saved : rebinned(*saved);
    if (of.outside != 0) {
      context_.messages.warning(value_name(key) + ": " + number_text(of.outside, 6) +
                                " elements of its saved histogram are in no bin");
    }
    if (rows_) {
      print_rows(key, of.edges, of.counts);
      return;
    }
    const bool ascii = context_.options.output.terminal.ascii;
    draw(key, value_heading(key, ascii) + "  " + std::to_string(buckets) + " saved buckets", of.edges, of.counts);
  }

  [[nodiscard]] BucketCounts rebinned(const BucketCounts& saved) const {
    const BinSpec& bins = context_.options.bins;
    const BucketBounds bounds = bounds_of(saved);
    const bool some = bounds.low <= bounds.high;
    const Histogram empty(bins.count, bins.low.value_or(some ? bounds.low : 0),
                          bins.high.value_or(some ? bounds.high : 1));
    BucketCounts result{empty.edges(), std::vector<double>(bins.count)};
    add_buckets(result, saved);
    return result;
  }

  template <class Count>
  void print_rows(const ValueKey& key, const std::vector<double>& all_edges, const std::vector<Count>& all_counts) {
    const int precision = context_.options.output.precision;
    const std::function<void(OutputFile&)> edges = [&](OutputFile& out) { write_array(out, all_edges, precision); };
    const std::function<void(OutputFile&)> counts = [&](OutputFile& out) { write_array(out, all_counts, precision); };
    const auto row = [&](Cell bin, Cell low, Cell high, Cell count) {
      rows_->row({key.tensor, key.step.value, to_string(key.mode), key.mode_step.value, key.worker, bin, low, high,
                  count, JsonCell{&edges}, JsonCell{&counts}, key.written});
    };
    if (context_.options.output.json()) {
      row({}, {}, {}, {});
      return;
    }
    for (std::size_t bin = 0; bin < all_counts.size(); ++bin) {
      row(bin, all_edges[bin], all_edges[bin + 1], all_counts[bin]);
    }
  }

  void draw(const ValueKey& key, const std::string& title, const std::vector<double>& edges,
            const std::vector<double>& counts) {
    if (charts_) {
      charts_->add({key.tensor, key.worker, key.mode, key.step.value}, edges, counts);
      return;
    }
    std::string text = first_ ? "" : "\n";
    first_ = false;
    text += title + "\n";
    text += bars(edges, counts, context_.options.table_precision(4), terminal_width(STDOUT_FILENO),
                 context_.options.output.terminal.ascii);
    context_.out.write(text);
  }

  ViewContext context_;
  std::optional<RowWriter> rows_;  // if neither is set: bars
  std::optional<HistogramCharts> charts_;
  bool first_ = true;
};

}  // namespace

std::span<const Column> hist_view_columns() noexcept { return columns; }

std::unique_ptr<ValueView> make_hist_view(ViewContext context) { return std::make_unique<HistView>(context); }

}  // namespace smd::tool::tensor
