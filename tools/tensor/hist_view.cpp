// SPDX-License-Identifier: Apache-2.0
// --hist: bars in a table; elsewhere one row per bin, in JSON one object per value.
#include "common/row_writer.hpp"
#include "common/text.hpp"
#include "histogram.hpp"
#include "value_view.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>

namespace smd::tool::tensor {

namespace {

constexpr std::array<Column, 11> columns = {{{"tensor"},
                                             {"step", Align::right},
                                             {"mode"},
                                             {"mode_step", Align::right},
                                             {"worker"},
                                             {"bin", Align::right, true, false},
                                             {"lo", Align::right, true, false},
                                             {"hi", Align::right, true, false},
                                             {"count", Align::right, true, false},
                                             {"edges", Align::left, false, true},
                                             {"counts", Align::left, false, true}}};

template <class Number>
void write_array(OutputFile& out, const std::vector<Number>& numbers, int precision) {
  out.put('[');
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i != 0) {
      out.put(',');
    }
    out.advance(write_number(out.room(number_chars), numbers[i], precision));
  }
  out.put(']');
}

// A bar of so many eighths of a column.
std::string bar(std::uint64_t eighths, bool ascii) {
  if (ascii) {
    return std::string((eighths + 4) / 8, '#');
  }
  constexpr std::array<std::string_view, 8> parts = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  std::string text;
  for (; eighths >= 8; eighths -= 8) {
    text += "█";
  }
  return text += parts[eighths];
}

class HistView : public ValueView {
 public:
  explicit HistView(ViewContext context) : context_(context) {
    const OutputOptions& output = context.options.output;
    if (output.format != "table" || !output.columns.empty()) {
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
                  count, JsonCell{&edges}, JsonCell{&counts}});
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
    const bool ascii = context_.options.output.ascii;
    std::string text = first_ ? "" : "\n";
    first_ = false;
    text += heading(key, value, ascii) + "\n";
    std::vector<std::string> edges;
    std::size_t edge_width = 0;
    for (const double edge : of.edges) {
      edges.push_back(number_text(edge, context_.options.table_precision(4)));
      edge_width = std::max(edge_width, edges.back().size());
    }
    const std::uint64_t most = *std::max_element(of.counts.begin(), of.counts.end());
    const std::size_t count_width = std::to_string(most).size();
    const std::size_t beside = 2 * edge_width + count_width + 9;
    const std::size_t width = terminal_width(STDOUT_FILENO);
    const std::uint64_t room = std::min<std::size_t>(60, width > beside + 10 ? width - beside : 10);
    for (std::size_t bin = 0; bin < of.counts.size(); ++bin) {
      const std::string count = std::to_string(of.counts[bin]);
      text += "  " + std::string(edge_width - edges[bin].size(), ' ') + edges[bin] + " .. " +
              std::string(edge_width - edges[bin + 1].size(), ' ') + edges[bin + 1] + "  " +
              std::string(count_width - count.size(), ' ') + count;
      if (of.counts[bin] != 0) {
        const double share = static_cast<double>(of.counts[bin]) / static_cast<double>(most);
        // Whatever is there shows.
        const auto eighths = static_cast<std::uint64_t>(share * static_cast<double>(room) * 8);
        text += " " + bar(std::max<std::uint64_t>(eighths, ascii ? 4 : 1), ascii);
      }
      text += '\n';
    }
    context_.out.write(text);
  }

  ViewContext context_;
  std::optional<RowWriter> rows_;  // none: bars
  bool first_ = true;
};

}  // namespace

std::unique_ptr<ValueView> make_hist_view(ViewContext context) { return std::make_unique<HistView>(context); }

}  // namespace smd::tool::tensor
