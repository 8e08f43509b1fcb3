// SPDX-License-Identifier: Apache-2.0
// How the elements of tensors are spread over the steps: fans of percentiles, or the buckets that the job saved.
#include "cli/mapped.hpp"
#include "cli/text.hpp"
#include "html.hpp"
#include "sections.hpp"
#include "select/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace smd::tool::report {

namespace {

constexpr std::size_t shown = 4;
constexpr std::size_t most_fans = 16;

std::string percentiles() { return fmt::format("{}", fmt::join(fan_names, ",")); }

// The mode with the most samples; null if there are none.
const std::pair<const Mode, ModeHistory>* fullest(const TensorHistory& history) {
  const auto samples = [](const auto& mode) { return mode.second.fan.samples.size(); };
  const auto best = std::ranges::max_element(history.modes, {}, samples);
  return best == history.modes.end() || samples(*best) == 0 ? nullptr : &*best;
}

std::string title_of(const PageContext& page, const TrialReport& trial, const std::string& tensor) {
  return page.trials.size() > 1 ? fmt::format("{}, {}", tensor, trial.label) : tensor;
}

PercentileFan fan_of(const Fan& fan) {
  PercentileFan drawn;
  const std::vector<std::size_t> gaps = fan.gaps.gaps_among(mapped(fan.samples, &FanSample::place));
  for (std::size_t i = 0; i < fan_names.size(); ++i) {
    const auto point = [i](const FanSample& sample) {
      return ChartPoint{static_cast<double>(sample.step.value), sample.numbers[i]};
    };
    drawn.curves.push_back({.name = std::string(fan_names[i]), .points = mapped(fan.samples, point), .gaps = gaps});
  }
  return drawn;
}

std::string fan_figure(const PageContext& page, const TrialReport& trial, const std::string& tensor, Mode mode,
                       const Fan& fan) {
  std::string remark = fan.every == 1 ? std::string() : fmt::format("Of {} steps one is shown. ", fan.every);
  if (fan.nan != 0) {
    remark += fmt::format("NaN left out: {} of all steps.", counted(fan.nan, "element"));
  }
  std::string command = reduce_command(page, name_option(tensor) + " --nan omit", percentiles(), &trial);
  if (mode != Mode::global && page.selection.find(" -m ") == std::string::npos) {
    command += fmt::format(" -m {}", mode_text(mode));
  }
  return page.figures.add(
      {.chart = {.title = title_of(page, trial, tensor),
                 .subtitle = mode == Mode::global ? std::string() : fmt::format("mode {}", mode_text(mode)),
                 .y = {.name = "percentiles of the elements"},
                 .content = fan_of(fan)},
       .tensors = {tensor},
       .commands = {command},
       .remark = std::move(remark)});
}

std::string bucket_figure(const PageContext& page, const TrialReport& trial, const std::string& tensor,
                          const HeatMap& map) {
  return page.figures.add({.chart = {.title = title_of(page, trial, tensor),
                                     .subtitle = "buckets that the job saved",
                                     .y = {.name = "elements"},
                                     .content = map},
                           .tensors = {tensor},
                           .commands = {fmt::format("smd-reduce {}{}{} {} --hist", shell_word(trial.name),
                                                    page.selection, page.every, name_option(tensor))}});
}

}  // namespace

std::string distributions_section(const PageContext& page) {
  std::vector<std::string> names = tensors_of(
      page.trials, [](const TensorHistory& history) { return !history.scalar() && fullest(history) != nullptr; });
  std::vector<std::string> figures;
  std::vector<std::string> saved;
  for (const TrialReport& trial : page.trials) {
    std::ranges::copy(keys_of(trial.buckets), std::back_inserter(saved));
  }
  detail::sort_each_once(saved);
  for (const std::string& tensor : worst_first(page, std::move(saved))) {
    for (const TrialReport& trial : page.trials) {
      if (const auto map = trial.buckets.find(tensor); map != trial.buckets.end()) {
        figures.push_back(bucket_figure(page, trial, tensor, map->second));
      }
    }
  }
  std::size_t left_out = 0;
  for (const std::string& tensor : worst_first(page, std::move(names))) {
    for (const TrialReport& trial : page.trials) {
      const TensorHistory* const history = trial.history(tensor);
      const auto* const of = history == nullptr ? nullptr : fullest(*history);
      if (of != nullptr && figures.size() < most_fans) {
        figures.push_back(fan_figure(page, trial, tensor, of->first, of->second.fan));
      } else if (of != nullptr) {
        ++left_out;
      }
    }
  }
  std::string out = figure_grid(std::move(figures), shown, "distributions");
  if (left_out != 0) {
    out += fmt::format("<p class=\"remark\">The worst first; {} more are left to</p>\n", left_out) +
           command_html(reduce_command(page, "-n NAME", percentiles() + " -f svg -o NAME.svg"));
  }
  return out;
}

}  // namespace smd::tool::report
