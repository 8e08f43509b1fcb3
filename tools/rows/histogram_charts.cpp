// SPDX-License-Identifier: Apache-2.0
#include "rows/histogram_charts.hpp"

#include "select/selection.hpp"

#include <fmt/format.h>

namespace smd::tool {

void HistogramCharts::add(const Of& of, std::vector<double> edges, std::vector<double> counts) {
  if (counts.empty()) {
    return;
  }
  Histograms& to = histograms_[{trials_.size(), std::string(of.tensor), std::string(of.worker), of.mode}];
  to.steps = of.step.has_value();
  to.columns.push_back({static_cast<double>(of.step.value_or(0)), std::move(edges), std::move(counts)});
}

std::vector<Chart> HistogramCharts::charts() const {
  std::vector<Chart> charts;
  for (const auto& [key, histograms] : histograms_) {
    const auto& [trial, tensor, worker, mode] = key;
    Chart chart;
    chart.title = tensor.empty() ? "all that is selected" : tensor;
    chart.subtitle = trials_[trial - 1];
    if (mode != Mode::global) {
      chart.subtitle += fmt::format(", mode {}", mode_text(mode));
    }
    if (!worker.empty()) {
      chart.subtitle += fmt::format(", worker {}", worker);
    }
    if (histograms.columns.size() == 1) {
      const HeatColumn& only = histograms.columns.front();
      if (histograms.steps) {
        chart.subtitle += fmt::format(", step {:.0f}", only.x);
      }
      chart.x = {.name = "value of an element"};
      chart.y = {.name = "number of elements", .whole = true, .least = 0};
      chart.content = BarSet{only.edges, only.counts};
    } else {
      chart.x = {.name = mode == Mode::global ? "step" : "step (of all modes)", .whole = true};
      chart.y = {.name = "value of an element"};
      chart.content = HeatMap{histograms.columns};
    }
    charts.push_back(std::move(chart));
  }
  return charts;
}

}  // namespace smd::tool
