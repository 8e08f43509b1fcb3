// SPDX-License-Identifier: Apache-2.0
// Curves as charts: what is the same of all stands above, what differs names the curves.
#include "draw/palette.hpp"
#include "rows/curves.hpp"
#include "rows/statistic_axis.hpp"
#include "select/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace smd::tool {

namespace {

constexpr std::size_t dashes = 4;

// Which parts of the keys differ, and what to say of those that do not.
struct Parts {
  std::set<std::size_t> trials;
  std::set<std::string, std::less<>> tensors;
  std::set<std::string, std::less<>> workers;
  std::set<Mode> modes;
};

void join(std::string& to, std::string_view part) {
  if (!part.empty()) {
    to += to.empty() ? "" : ", ";
    to += part;
  }
}

std::string common_parts(const Parts& parts, const std::vector<std::string>& trials) {
  std::string text;
  if (parts.trials.size() == 1) {
    join(text, trials[*parts.trials.begin() - 1]);
  } else {
    join(text, fmt::format("{} trials", parts.trials.size()));
  }
  if (parts.modes.size() == 1 && *parts.modes.begin() != Mode::global) {
    join(text, fmt::format("mode {}", mode_text(*parts.modes.begin())));
  }
  if (parts.workers.size() == 1 && !parts.workers.begin()->empty()) {
    join(text, fmt::format("worker {}", *parts.workers.begin()));
  }
  return text;
}

std::string tensors_text(const Parts& parts) {
  const std::string& first = *parts.tensors.begin();
  return parts.tensors.size() > 1 ? fmt::format("{} tensors", parts.tensors.size())
         : first.empty()          ? "all that is selected"
                                  : first;
}

// Where a mode is one of several, it decides the dashes; else these tell apart what has the same colour.
void choose_looks(std::vector<ChartCurve>& curves, const std::vector<Mode>& modes, std::size_t different_modes) {
  const bool by_mode = different_modes > 1 && curves.size() <= hues * different_modes;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    if (!by_mode) {
      curves[i].hue = i % hues;
      curves[i].dash = static_cast<Dash>(i / hues % dashes);
      continue;
    }
    // Curves of several modes are neighbours, since the mode comes last in their keys but the reduction.
    curves[i].dash = modes[i] == Mode::eval ? Dash::dashed : modes[i] == Mode::predict ? Dash::dotted : Dash::solid;
    const bool again = i != 0 && modes[i] > modes[i - 1] && curves.size() > different_modes;
    curves[i].hue = i == 0 ? 0 : again ? curves[i - 1].hue : (curves[i - 1].hue + 1) % hues;
  }
}

// All have the same steps.
bool aligned(const std::vector<ChartCurve>& curves) {
  return std::all_of(curves.begin(), curves.end(), [&](const ChartCurve& curve) {
    return std::equal(curve.points.begin(), curve.points.end(), curves.front().points.begin(),
                      curves.front().points.end(), [](const ChartPoint& a, const ChartPoint& b) { return a.x == b.x; });
  });
}

}  // namespace

std::vector<Chart> Curves::take_charts(std::span<const std::string> reductions, ScaleKind scale) {
  std::erase_if(curves_, [](const auto& one) { return one.second.numbers.empty(); });
  Parts parts;
  bool modes = false;
  for (const auto& [key, curve] : curves_) {
    parts.trials.insert(std::get<0>(key));
    parts.tensors.insert(std::get<1>(key));
    parts.workers.insert(std::get<2>(key));
    parts.modes.insert(std::get<3>(key));
    modes = modes || std::get<3>(key) != Mode::global;
  }
  if (curves_.empty()) {
    return {};
  }
  const std::string subtitle = common_parts(parts, trials_);
  const std::string tensors = tensors_text(parts);
  const ChartAxis steps = {.name = modes ? "step (of all modes)" : "step", .whole = true};
  const auto name_of = [&](const Key& key) {
    const auto& [trial, tensor, worker, mode, reduction] = key;
    std::string name;
    join(name, parts.trials.size() > 1 ? std::string_view(trials_[trial - 1]) : std::string_view());
    join(name, parts.tensors.size() > 1 ? std::string_view(tensor) : std::string_view());
    join(name, parts.modes.size() > 1 ? mode_text(mode) : std::string_view());
    join(name, parts.workers.size() > 1 ? std::string_view(worker) : std::string_view());
    return name.empty() ? tensor : name;
  };
  const auto take = [](Curve& curve, std::string name) {
    ChartCurve drawn = {.name = std::move(name), .gaps = curve.gaps.gaps()};
    drawn.points.reserve(curve.numbers.size());
    for (std::size_t i = 0; i < curve.numbers.size(); ++i) {
      drawn.points.push_back({static_cast<double>(curve.steps[i]), curve.numbers[i]});
    }
    curve = {};
    return drawn;
  };
  std::vector<Chart> charts;
  const std::vector<std::size_t> order = percentile_order(reductions);
  if (order.size() >= 3) {
    for (auto first = curves_.begin(); first != curves_.end();) {
      const auto same = [&first](const auto& one) {
        return std::equal_to<>()(
            std::tie(std::get<0>(one.first), std::get<1>(one.first), std::get<2>(one.first), std::get<3>(one.first)),
            std::tie(std::get<0>(first->first), std::get<1>(first->first), std::get<2>(first->first),
                     std::get<3>(first->first)));
      };
      const auto end = std::find_if_not(first, curves_.end(), same);
      const std::string name = name_of(first->first);
      std::vector<ChartCurve> curves(order.size());
      for (auto one = first; one != end; ++one) {
        const std::size_t reduction = std::get<4>(one->first);
        curves[static_cast<std::size_t>(std::find(order.begin(), order.end(), reduction) - order.begin())] =
            take(one->second, reductions[reduction]);
      }
      Chart chart = {.title = name.empty() ? tensors : name,
                     .subtitle = subtitle,
                     .x = steps,
                     .y = {.name = "percentiles of the elements", .scale = scale}};
      if (aligned(curves)) {
        chart.content = PercentileFan{std::move(curves)};
      } else {
        std::vector<Mode> no_modes(curves.size());
        choose_looks(curves, no_modes, 1);
        chart.content = CurveSet{std::move(curves)};
      }
      charts.push_back(std::move(chart));
      first = end;
    }
    curves_.clear();
    return charts;
  }
  for (std::size_t reduction = 0; reduction < std::max<std::size_t>(reductions.size(), 1); ++reduction) {
    std::vector<ChartCurve> curves;
    std::vector<Mode> of_curves;
    for (auto& [key, curve] : curves_) {
      if (std::get<4>(key) == reduction) {
        curves.push_back(take(curve, name_of(key)));
        of_curves.push_back(std::get<3>(key));
      }
    }
    if (curves.empty()) {
      continue;
    }
    choose_looks(curves, of_curves, parts.modes.size());
    ChartAxis y = reductions.empty() ? ChartAxis{.name = "value"} : statistic_axis(reductions[reduction]);
    y.scale = scale;
    if (scale == ScaleKind::logarithmic) {
      y.least.reset();
      y.greatest.reset();
    }
    charts.push_back({.title = reductions.empty() ? tensors : fmt::format("{} of {}", reductions[reduction], tensors),
                      .subtitle = subtitle,
                      .x = steps,
                      .y = std::move(y),
                      .content = CurveSet{std::move(curves)}});
  }
  curves_.clear();
  return charts;
}

}  // namespace smd::tool
