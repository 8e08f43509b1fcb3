// SPDX-License-Identifier: Apache-2.0
#include "curve_sets.hpp"

#include "cli/escape.hpp"
#include "draw/palette.hpp"
#include "figures.hpp"
#include "select/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace smd::tool::report {

namespace {

constexpr std::size_t dashes = 4;

void join(std::string& to, std::string_view part) {
  to += to.empty() || part.empty() ? "" : ", ";
  to += part;
}

bool is_validation(const TrialReport& trial, const NamedCurve& curve) {
  return curve.mode == Mode::eval || curve.mode == Mode::predict ||
         std::any_of(trial.pairs.begin(), trial.pairs.end(),
                     [&](const TensorPair& pair) { return pair.validation == curve.tensor; });
}

// The tensor that a curve shares its colour with: training and validation have the same.
std::string_view colored_as(const TrialReport& trial, const NamedCurve& curve) {
  const auto pair = std::find_if(trial.pairs.begin(), trial.pairs.end(),
                                 [&](const TensorPair& one) { return one.validation == curve.tensor; });
  return pair == trial.pairs.end() ? std::string_view(curve.tensor) : std::string_view(pair->training);
}

}  // namespace

std::vector<NamedCurve> curves_of(std::span<const TrialReport> trials, const std::set<std::string>& tensors,
                                  const PickCurve& pick) {
  std::vector<NamedCurve> curves;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    for (const std::string& tensor : tensors) {
      if (trials[i].histories == nullptr) {
        continue;
      }
      const auto found = trials[i].histories->tensors.find(tensor);
      if (found == trials[i].histories->tensors.end()) {
        continue;
      }
      for (const auto& [mode, series] : found->second.modes) {
        if (!pick(series).empty()) {
          curves.push_back({i, tensor, mode, &pick(series)});
        }
      }
    }
  }
  return curves;
}

CurveSet curve_set(std::span<const TrialReport> trials, const std::vector<NamedCurve>& curves, std::size_t all) {
  std::set<std::size_t> of_trials;
  std::set<std::string_view> tensors;
  std::set<Mode> modes;
  for (const NamedCurve& curve : curves) {
    of_trials.insert(curve.trial);
    tensors.insert(curve.tensor);
    modes.insert(curve.mode);
  }
  const auto validation = std::count_if(
      curves.begin(), curves.end(), [&](const NamedCurve& curve) { return is_validation(trials[curve.trial], curve); });
  const bool both_sides = validation != 0 && static_cast<std::size_t>(validation) != curves.size();
  CurveSet set;
  std::map<std::pair<std::size_t, std::string_view>, std::size_t> hues_of;
  const std::size_t columns = columns_for(std::max(curves.size(), all));
  for (const NamedCurve& curve : curves) {
    const TrialReport& trial = trials[curve.trial];
    std::string name;
    join(name, of_trials.size() > 1 ? std::string_view(trial.label) : std::string_view());
    join(name, tensors.size() > 1 ? std::string_view(curve.tensor) : std::string_view());
    join(name, modes.size() > 1 ? mode_text(curve.mode) : std::string_view());
    if (name.empty()) {
      name = curve.tensor;
    }
    ChartCurve drawn = curve.curve->chart_curve(std::move(name), columns);
    const std::size_t color =
        trials.size() > 1 ? curve.trial
                          : hues_of.try_emplace({curve.trial, colored_as(trial, curve)}, hues_of.size()).first->second;
    drawn.hue = color % hues;
    drawn.dash = both_sides && is_validation(trial, curve) ? Dash::dashed : static_cast<Dash>(color / hues % dashes);
    set.curves.push_back(std::move(drawn));
  }
  return set;
}

std::vector<std::string> tensors_of(std::span<const TrialReport> trials,
                                    const std::function<bool(const TensorHistory&)>& which) {
  std::set<std::string> names;
  for (const TrialReport& trial : trials) {
    if (trial.histories != nullptr) {
      for (const auto& [name, history] : trial.histories->tensors) {
        if (history.steps != 0 && which(history)) {
          names.insert(name);
        }
      }
    }
  }
  return {names.begin(), names.end()};
}

ChartAxis step_axis(std::span<const TrialReport> trials) {
  const bool several =
      std::any_of(trials.begin(), trials.end(), [](const TrialReport& trial) { return trial.facts.modes.size() > 1; });
  return {.name = several ? "step (of all modes)" : "step", .whole = true};
}

}  // namespace smd::tool::report
