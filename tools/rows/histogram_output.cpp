// SPDX-License-Identifier: Apache-2.0
#include "rows/histogram_output.hpp"

#include "cli/mapped.hpp"
#include "cli/terminal.hpp"
#include "cli/text.hpp"
#include "draw/bins.hpp"
#include "rows/curves.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <functional>
#include <utility>

namespace smd::tool {

namespace {

/// `[1,2.5]`.
void write_array(OutputFile& out, const std::vector<Cell>& numbers, int precision) {
  std::string text = "[";
  for (const Cell& number : numbers) {
    text += text.size() > 1 ? "," : "";
    append_json_cell(text, number, precision, NonFinite::string);
  }
  out.write(text + "]");
}

}  // namespace

void note_uncounted(const std::string& what, const Histogram& counted, Diagnostics& messages) {
  std::string text;
  append_part(text, counted.nan() != 0 ? fmt::format("{} NaN", counted.nan()) : "");
  append_part(text, counted.outside() != 0 ? text::counted(counted.outside(), "element") + " outside the bounds" : "");
  if (!text.empty()) {
    messages.note(what + ": in no bin: " + text);
  }
}

HistogramOutput::HistogramOutput(OutputFile& out, const OutputOptions& options, const PictureOptions& picture,
                                 std::span<const Column> columns, bool several_trials, Diagnostics& messages)
    : out_(out), options_(options), picture_(picture), svg_(options.format == svg_format) {
  if (!svg_ && (options.format != "table" || options.asks_for_rows())) {
    rows_.emplace(out, options, columns, several_trials, messages);
  }
}

void HistogramOutput::set_trial(std::string_view name) {
  if (rows_) {
    rows_->set_trial(name);
  } else if (svg_) {
    trials_.emplace_back(name);
  }
}

void HistogramOutput::show(const HistogramOf& of, std::vector<Cell> cells, PlaceCell written, const std::string& title,
                           const std::vector<double>& edges, const std::vector<double>& counts, bool whole) {
  if (rows_) {
    print_rows(std::move(cells), written, edges, counts, whole);
  } else if (!svg_) {
    out_.write((std::exchange(first_, false) ? "" : "\n") + title + "\n" +
               tool::bars(edges, counts, options_.precision != 0 ? options_.precision : 4,
                          terminal_width(STDOUT_FILENO), options_.terminal.ascii));
  } else if (!counts.empty()) {
    Histograms& to = histograms_[{trials_.size(), std::string(of.tensor), std::string(of.worker), of.mode}];
    to.steps = of.step.has_value();
    to.columns.push_back({static_cast<double>(of.step.value_or(0)), edges, counts});
  }
}

void HistogramOutput::print_rows(std::vector<Cell> cells, PlaceCell written, const std::vector<double>& edges,
                                 const std::vector<double>& counts, bool whole) {
  const int precision = options_.precision;
  const std::vector<Cell> shown =
      mapped(counts, [whole](double count) { return whole ? Cell(static_cast<std::uint64_t>(count)) : Cell(count); });
  const std::function<void(OutputFile&)> write_edges = [&](OutputFile& to) {
    write_array(to, mapped(edges, [](double edge) { return Cell(edge); }), precision);
  };
  const std::function<void(OutputFile&)> write_counts = [&](OutputFile& to) { write_array(to, shown, precision); };
  const std::size_t before = cells.size();
  const auto row = [&](Cell bin, Cell low, Cell high, Cell count) {
    cells.resize(before);
    cells.insert(cells.end(), {bin, low, high, count, JsonCell{&write_edges}, JsonCell{&write_counts}, written});
    rows_->row(cells);
  };
  if (options_.json()) {
    row({}, {}, {}, {});
    return;
  }
  for (std::size_t bin = 0; bin < counts.size(); ++bin) {
    row(bin, edges[bin], edges[bin + 1], shown[bin]);
  }
}

void HistogramOutput::end_step() {
  if (rows_) {
    rows_->end_step();
  } else {
    out_.flush();
  }
}

void HistogramOutput::finish() {
  if (rows_) {
    rows_->finish();
  } else if (svg_) {
    write_charts(out_, charts(), picture_, "choose tensors with -n or -e");
  }
}

std::vector<Chart> HistogramOutput::charts() const {
  std::vector<Chart> charts;
  for (const auto& [key, histograms] : histograms_) {
    const auto& [trial, tensor, worker, mode] = key;
    CurveNames names;
    names.add(trial - 1, tensor, mode, worker);
    Chart chart = {.title = names.all_tensors(), .subtitle = names.common(trials_)};
    if (histograms.columns.size() == 1) {
      const HeatColumn& only = histograms.columns.front();
      if (histograms.steps) {
        chart.subtitle += fmt::format(", step {:.0f}", only.x);
      }
      chart.x = {.name = "value of an element"};
      chart.y = {.name = "number of elements", .whole = true, .least = 0};
      chart.content = BarSet{only.edges, only.counts};
    } else {
      chart.x = names.steps();
      chart.y = {.name = "value of an element"};
      chart.content = HeatMap{histograms.columns};
    }
    charts.push_back(std::move(chart));
  }
  return charts;
}

}  // namespace smd::tool
