// SPDX-License-Identifier: Apache-2.0
// Workers: time per step, and how much their losses differ.
#include "draw/palette.hpp"
#include "html.hpp"
#include "rows/curves.hpp"
#include "sections.hpp"
#include "select/selection.hpp"

#include <fmt/format.h>

#include <map>
#include <set>

namespace smd::tool::report {

namespace {

constexpr std::size_t most_spreads = 4;

std::string seconds_figure(const PageContext& page) {
  CurveSet set;
  for (const TrialReport& trial : page.trials) {
    if (const ThinCurve& seconds = trial.histories.seconds; !seconds.empty()) {
      ChartCurve curve =
          seconds.chart_curve(page.trials.size() > 1 ? trial.label : "time per step", columns_for(page.trials.size()));
      curve.hue = static_cast<std::size_t>(&trial - page.trials.data()) % hues;
      set.curves.push_back(std::move(curve));
    }
  }
  if (set.curves.empty()) {
    return {};
  }
  return page.figures.add(
      {.chart = {.title = "Time per step",
                 .y = {.name = "seconds since the step before was written", .least = 0, .robust = true},
                 .content = std::move(set)},
       .commands = {fmt::format("smd-ls {} --steps -l", page.operands)}});
}

bool by_several(const TensorHistory& history) {
  const auto& workers = history.workers;
  return !workers.empty() && workers.begin()->first.first != workers.rbegin()->first.first;
}

std::string spread_figure(const PageContext& page, const TrialReport& trial, const std::string& tensor,
                          const TensorHistory& history) {
  std::set<Mode> modes;
  std::map<std::string_view, std::size_t> order;  // of workers
  for (const auto& [key, curve] : history.workers) {
    modes.insert(key.second);
    order.try_emplace(key.first, order.size());
  }
  CurveSet set;
  for (const auto& [key, curve] : history.workers) {
    const auto& [worker, mode] = key;
    ChartCurve drawn = curve.chart_curve(modes.size() > 1 ? fmt::format("{}, {}", worker, mode_text(mode)) : worker,
                                         columns_for(history.workers.size()));
    const std::size_t color = order.find(worker)->second;
    drawn.hue = color % hues;
    drawn.dash = modes.size() > 1 ? dash_of(mode) : static_cast<Dash>(color / hues % dashes);
    set.curves.push_back(std::move(drawn));
  }
  return page.figures.add({.chart = {.title = fmt::format("{} by worker", tensor),
                                     .subtitle = page.trials.size() > 1 ? trial.label : std::string(),
                                     .y = {.name = "value", .robust = true},
                                     .content = std::move(set)},
                           .tensors = {tensor},
                           .commands = {reduce_command(page, name_option(tensor), "mean -w all", &trial)}});
}

std::string workers_table(const PageContext& page) {
  std::vector<std::vector<HtmlCell>> rows;
  bool several = false;
  for (const TrialReport& trial : page.trials) {
    several = several || trial.facts.workers.size() > 1;
    for (const auto& [name, worker] : trial.facts.workers) {
      rows.push_back({{name_html(trial.label)},
                      {name_html(name)},
                      {std::to_string(worker.steps), true},
                      {std::to_string(worker.last_step.value), true}});
    }
  }
  const std::vector<std::string> header = {"trial", "worker", "steps", "last step"};
  return several ? table_html("workers", header, rows) : std::string();
}

}  // namespace

std::string workers_section(const PageContext& page) {
  std::vector<std::string> figures = {seconds_figure(page)};
  for (const TrialReport& trial : page.trials) {
    std::size_t spreads = 0;
    for (const Role role : {Role::loss, Role::other}) {
      for (const auto& [tensor, history] : trial.histories.tensors) {
        if (history.role == role && by_several(history) && spreads < most_spreads) {
          figures.push_back(spread_figure(page, trial, tensor, history));
          ++spreads;
        }
      }
    }
  }
  return figure_grid(std::move(figures), most_spreads, "figures") + workers_table(page);
}

}  // namespace smd::tool::report
