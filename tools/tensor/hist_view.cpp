// SPDX-License-Identifier: Apache-2.0
// --hist: a histogram of each value.
#include "rows/buckets.hpp"
#include "rows/histogram_output.hpp"
#include "value_view.hpp"

namespace smd::tool::tensor {

namespace {

constexpr std::size_t most_bars = 30;  // of saved buckets

class HistView : public ValueView {
 public:
  explicit HistView(ViewContext context)
      : options_(context.options),
        messages_(context.messages),
        output_(context.out, context.options.output, context.options.picture, hist_view_columns(),
                context.several_trials, context.messages) {}

  void set_trial(std::string_view name) override { output_.set_trial(name); }

  void show(const ValueKey& key, const TensorValue& value) override {
    if (key.buckets) {
      show_buckets(key, value);
      return;
    }
    if (!is_real(value.dtype())) {
      messages_.warning(value_name(key) + ": no histogram of type " + std::string(to_string(value.dtype())));
      return;
    }
    const Histogram of = histogram_of(value.view(), options_.bins);
    note_uncounted(value_name(key), of, messages_);
    print(key, heading(key, value, options_.output.terminal.ascii), of.edges(),
          {of.counts().begin(), of.counts().end()}, true);
  }

  void end_step() override { output_.end_step(); }
  void finish() override { output_.finish(); }

 private:
  // Shows the buckets as they were saved, unless --bins asks for others, or there would be too many bars.
  void show_buckets(const ValueKey& key, const TensorValue& value) {
    const std::optional<BucketCounts> saved = counts_of_buckets(value.view());
    if (!saved) {
      messages_.fail("Damaged", value_name(key) + ": the buckets of its saved histogram do not ascend",
                     ExitStatus::damaged);
      return;
    }
    const std::size_t buckets = saved->counts.size();
    const bool as_saved = !options_.bins_given && (!output_.bars() || (buckets != 0 && buckets <= most_bars));
    BucketCounts of = *saved;
    if (!as_saved) {
      const AxisRange bounds = AxisRange::of_filled(saved->edges, saved->counts);
      of = {empty_histogram(options_.bins, bounds).edges(), std::vector<double>(options_.bins.count)};
      add_buckets(of, *saved);
    }
    if (of.outside != 0) {
      messages_.note(value_name(key) + ": " + number_text(of.outside, 6) +
                     " elements of its saved histogram are in no bin");
    }
    print(key, value_heading(key, options_.output.terminal.ascii) + "  " + std::to_string(buckets) + " saved buckets",
          of.edges, of.counts, false);
  }

  void print(const ValueKey& key, const std::string& title, const std::vector<double>& edges,
             const std::vector<double>& counts, bool whole) {
    output_.show({key.tensor, key.worker, key.mode, key.step.value}, with_key_cells(key), key.written, title, edges,
                 counts, whole);
  }

  const TensorOptions& options_;
  Diagnostics& messages_;
  HistogramOutput output_;
};

}  // namespace

std::vector<Column> hist_view_columns() {
  return with_key_columns(std::vector<Column>(histogram_columns.begin(), histogram_columns.end()));
}

std::unique_ptr<ValueView> make_hist_view(ViewContext context) { return std::make_unique<HistView>(context); }

}  // namespace smd::tool::tensor
