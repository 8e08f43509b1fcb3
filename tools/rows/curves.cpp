// SPDX-License-Identifier: Apache-2.0
#include "rows/curves.hpp"

#include "cli/mapped.hpp"
#include "cli/text.hpp"
#include "draw/palette.hpp"
#include "select/selection.hpp"

#include <smd/reduction.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

namespace smd::tool {

namespace {

constexpr int curve_precision = 4;
constexpr const char* smooth_suffix = " (smooth)";

constexpr std::size_t reduction_place = 3;
constexpr std::array<Column, 10> columns = {{{.name = "tensor", .asked = true},
                                             {.name = "worker"},
                                             {.name = "mode"},
                                             {.name = "reduction"},
                                             {.name = "curve", .curve = true},
                                             {.name = "last", .align = Align::right, .asked = true},
                                             {.name = "min", .align = Align::right, .measured = true},
                                             {.name = "max", .align = Align::right, .measured = true},
                                             {.name = "steps", .align = Align::right},
                                             written_column}};

// Of what smd-diff compares.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> difference_words = {
    {{"max_abs", "largest |a - b|"}, {"l2_diff", "l2 norm of a - b"}, {"rel_l2", "l2 norm of a - b / l2 norm of a"}}};

std::optional<double> percentile_of(std::string_view name) {
  const std::optional<Reduction> reduction = parse_reduction(name);
  if (!reduction || reduction->abs) {
    return std::nullopt;
  }
  return reduction->kind == ReductionKind::min          ? std::optional(0.0)
         : reduction->kind == ReductionKind::max        ? std::optional(100.0)
         : reduction->kind == ReductionKind::median     ? std::optional(50.0)
         : reduction->kind == ReductionKind::percentile ? std::optional(reduction->percent)
                                                        : std::nullopt;
}

// If there are several modes, the mode decides the dashes; else dashes distinguish curves of the same colour.
void choose_looks(std::vector<ChartCurve>& curves, const std::vector<Mode>& modes, std::size_t different_modes) {
  const bool by_mode = different_modes > 1 && curves.size() <= hues * different_modes;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    if (!by_mode) {
      curves[i].hue = i % hues;
      curves[i].dash = static_cast<Dash>(i / hues % dashes);
      continue;
    }
    // Curves that differ only in their mode are neighbours: of what follows it in the keys, all are alike.
    curves[i].dash = dash_of(modes[i]);
    const bool again = i != 0 && modes[i] > modes[i - 1] && curves.size() > different_modes;
    curves[i].hue = i == 0 ? 0 : again ? curves[i - 1].hue : (curves[i - 1].hue + 1) % hues;
  }
}

// Whether all curves have the same steps.
bool aligned(const std::vector<ChartCurve>& curves) {
  return std::ranges::all_of(curves, [&](const ChartCurve& curve) {
    return std::equal(curve.points.begin(), curve.points.end(), curves.front().points.begin(),
                      curves.front().points.end(), [](const ChartPoint& a, const ChartPoint& b) { return a.x == b.x; });
  });
}

}  // namespace

std::span<const Column> curve_columns() noexcept { return columns; }

void Curves::set_trial(std::string_view name, bool again) {
  const auto known = again ? std::ranges::find(trials_, name) : trials_.end();
  trial_ = static_cast<std::size_t>(known - trials_.begin()) + 1;
  if (known == trials_.end()) {
    trials_.emplace_back(name);
  }
}

void CurvesView::draw(bool last) {
  const auto begin = std::chrono::steady_clock::now();
  if (begin < next_ && !last) {
    return;
  }
  OutputFile table = OutputFile::screen();
  print(table, options_, several_trials_, reductions_, messages_);
  screen_.show(table.take_text());
  const auto end = std::chrono::steady_clock::now();
  next_ = end + 4 * (end - begin);
}

void CurvesView::finish(std::string_view instead) {
  if (follows_) {
    draw(true);
  } else if (options_.format == svg_format) {
    write_charts(out_, take_charts(reductions_, picture_.scale), picture_, instead);
  } else {
    print(out_, options_, several_trials_, reductions_, messages_);
  }
}

Curves::Curve& Curves::curve_of(const Point& point) {
  return curves_[{trial_, std::string(point.tensor), std::string(point.worker), point.mode, point.smooth,
                  point.reduction}];
}

void Curves::add(const Point& point, double number) {
  Curve& curve = curve_of(point);
  if (curve.numbers.empty()) {
    curve.written = point.written;
  }
  curve.steps.push_back(point.step);
  curve.numbers.push_back(number);
  curve.gaps.add(point.mode_step);
}

void Curves::skip(const Point& point) { curve_of(point).gaps.skip(); }

void Curves::print(OutputFile& out, const OutputOptions& options, bool several_trials,
                   std::span<const std::string> reductions, Diagnostics& messages) const {
  OutputOptions adapted = options;
  adapted.format = "table";  // a picture, in a pipe too
  adapted.precision = options.precision != 0 ? options.precision : curve_precision;
  std::array<Column, columns.size()> shown = columns;
  shown[reduction_place].in_text = !reductions.empty();
  RowWriter rows(out, adapted, shown, several_trials, messages);
  std::size_t of_trial = 0;
  for (const auto& [key, curve] : curves_) {
    const auto& [trial, tensor, worker, mode, smooth, reduction] = key;
    if (trial != of_trial) {
      of_trial = trial;
      rows.set_trial(trials_[trial - 1]);
    }
    if (curve.numbers.empty()) {
      continue;
    }
    AxisRange bounds;
    bounds.add_finite(curve.numbers);
    const bool any_finite = !bounds.empty();
    const std::string steps = std::to_string(curve.steps.front()) + " to " + std::to_string(curve.steps.back());
    const std::string name = smooth ? tensor + smooth_suffix : tensor;
    rows.row({name, worker, to_string(mode), reductions.empty() ? Cell() : Cell(reductions[reduction]),
              CurveCell{curve.numbers}, curve.numbers.back(), any_finite ? Cell(bounds.low) : Cell(),
              any_finite ? Cell(bounds.high) : Cell(), steps, curve.written});
  }
  rows.finish();
}

double SmoothedSeries::put(std::int64_t step, double number) {
  auto place = std::ranges::lower_bound(points, step, {}, &Point::step);
  if (place == points.end() || place->step != step) {
    place = points.insert(place, Point{.step = step});
  }
  place->number = number;
  Point before = place == points.begin() ? Point() : *std::prev(place);
  for (auto next = place; next != points.end(); ++next) {
    const bool finite = std::isfinite(next->number);
    next->sum = finite ? weight * before.sum + (1 - weight) * next->number : before.sum;
    next->left = finite ? before.left * weight : before.left;
    next->mean = finite ? next->sum / (1 - next->left) : next->number;
    before = *next;
  }
  return place->mean;
}

const SmoothedSeries::Point* SmoothedSeries::find(std::int64_t step) const {
  const auto place = std::ranges::lower_bound(points, step, {}, &Point::step);
  return place == points.end() || place->step != step ? nullptr : &*place;
}

ChartAxis statistic_axis(std::string_view name) {
  const auto difference = std::ranges::find(difference_words, name, [](const auto& one) { return one.first; });
  if (difference != difference_words.end()) {
    return {.name = std::string(difference->second)};
  }
  const std::optional<Reduction> reduction = parse_reduction(name);
  if (!reduction) {
    return {.name = std::string(name)};
  }
  const ReductionFacts& facts = facts_of(reduction->kind);
  ChartAxis axis = {.name = reduction->kind == ReductionKind::percentile
                                ? fmt::format("percentile {} of the elements", reduction->percent)
                                : std::string(facts.text)};
  axis.name += reduction->abs ? ", of absolute values" : "";
  if (facts.share) {
    axis.least = 0;
    axis.greatest = 1;
  }
  return axis;
}

std::vector<std::size_t> percentile_order(std::span<const std::string> names) {
  std::map<double, std::size_t> places;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::optional<double> percentile = percentile_of(names[i]);
    if (!percentile || !places.emplace(*percentile, i).second) {
      return {};
    }
  }
  return mapped(places, [](const auto& one) { return one.second; });
}

// Curves as charts: what all have in common is above the chart, what differs names the curves.

Dash dash_of(Mode mode) noexcept {
  return mode == Mode::eval ? Dash::dashed : mode == Mode::predict ? Dash::dotted : Dash::solid;
}

ChartAxis step_axis(bool of_all_modes) {
  return {.name = of_all_modes ? "step (of all modes)" : "step", .whole = true};
}

void CurveNames::add(std::size_t trial, std::string_view tensor, Mode mode, std::string_view worker) {
  trials.insert(trial);
  tensors.emplace(tensor);
  modes.insert(mode);
  workers.emplace(worker);
}

std::string CurveNames::name_of(std::string_view trial, std::string_view tensor, Mode mode,
                                std::string_view worker) const {
  std::string name;
  append_part(name, trials.size() > 1 ? trial : std::string_view());
  append_part(name, tensors.size() > 1 ? tensor : std::string_view());
  append_part(name, modes.size() > 1 ? mode_text(mode) : std::string_view());
  append_part(name, workers.size() > 1 ? worker : std::string_view());
  return name.empty() ? all_tensors() : name;
}

std::string CurveNames::common(const std::vector<std::string>& names) const {
  std::string text;
  append_part(text, trials.size() == 1 ? names[*trials.begin()] : fmt::format("{} trials", trials.size()));
  if (modes.size() == 1 && *modes.begin() != Mode::global) {
    append_part(text, fmt::format("mode {}", mode_text(*modes.begin())));
  }
  if (workers.size() == 1 && !workers.begin()->empty()) {
    append_part(text, fmt::format("worker {}", *workers.begin()));
  }
  return text;
}

std::string CurveNames::all_tensors() const {
  return tensors.size() > 1         ? fmt::format("{} tensors", tensors.size())
         : tensors.begin()->empty() ? "all that is selected"
                                    : *tensors.begin();
}

ChartAxis CurveNames::steps() const { return step_axis(modes.size() != 1 || *modes.begin() != Mode::global); }

std::string Curves::name_of(const CurveNames& names, const Key& key) const {
  const auto& [trial, tensor, worker, mode, smooth, reduction] = key;
  return names.name_of(trials_[trial - 1], tensor, mode, worker) + (smooth ? smooth_suffix : "");
}

ChartCurve Curves::take_curve(Curve& curve, std::string name) {
  ChartCurve drawn = {.name = std::move(name), .gaps = curve.gaps.gaps()};
  drawn.points.reserve(curve.numbers.size());
  for (std::size_t i = 0; i < curve.numbers.size(); ++i) {
    drawn.points.push_back({static_cast<double>(curve.steps[i]), curve.numbers[i]});
  }
  curve = {};
  return drawn;
}

std::vector<Chart> Curves::take_fans(const CurveNames& names, std::span<const std::string> reductions,
                                     std::span<const std::size_t> order, ScaleKind scale) {
  std::vector<Chart> charts;
  for (auto first = curves_.begin(); first != curves_.end();) {
    const auto end = std::find_if_not(first, curves_.end(), [&first](const auto& one) {
      Key key = one.first;
      std::get<reduction_of_key>(key) = std::get<reduction_of_key>(first->first);
      return key == first->first;
    });
    std::vector<ChartCurve> curves(order.size());
    for (auto one = first; one != end; ++one) {
      const std::size_t reduction = std::get<reduction_of_key>(one->first);
      const auto place = std::ranges::find(order, reduction) - order.begin();
      curves[static_cast<std::size_t>(place)] = take_curve(one->second, reductions[reduction]);
    }
    Chart chart = {.title = name_of(names, first->first),
                   .subtitle = names.common(trials_),
                   .x = names.steps(),
                   .y = {.name = "percentiles of the elements", .scale = scale}};
    if (aligned(curves)) {
      chart.content = PercentileFan{{std::move(curves)}};
    } else {  // some were not available everywhere
      choose_looks(curves, std::vector<Mode>(curves.size()), 1);
      chart.content = CurveSet{std::move(curves)};
    }
    charts.push_back(std::move(chart));
    first = end;
  }
  return charts;
}

std::optional<Chart> Curves::take_chart(const CurveNames& names, std::size_t reduction, const std::string* name,
                                        ScaleKind scale) {
  std::vector<ChartCurve> curves;
  std::vector<Mode> modes;
  std::vector<std::pair<std::size_t, ChartCurve>> behind;  // and the place of the smooth one in `curves`
  for (auto& [key, curve] : curves_) {
    if (std::get<reduction_of_key>(key) != reduction) {
      continue;
    }
    ChartCurve taken = take_curve(curve, name_of(names, key));
    if (std::get<bool>(key)) {  // its values are just before it
      behind.emplace_back(curves.size() - 1, std::exchange(curves.back(), std::move(taken)));
    } else {
      curves.push_back(std::move(taken));
      modes.push_back(std::get<Mode>(key));
    }
  }
  if (curves.empty()) {
    return std::nullopt;
  }
  choose_looks(curves, modes, names.modes.size());
  if (curves.size() > most_named_curves) {
    behind.clear();
  }
  std::string subtitle = names.common(trials_);
  if (!behind.empty()) {
    append_part(subtitle, "pale: not smoothed");
  }
  for (auto& [smooth, pale] : behind) {
    pale.hue = curves[smooth].hue;
    pale.dash = curves[smooth].dash;
    pale.pale = true;
    curves.push_back(std::move(pale));
  }
  std::rotate(curves.begin(), curves.end() - static_cast<std::ptrdiff_t>(behind.size()), curves.end());
  ChartAxis y = name == nullptr ? ChartAxis{.name = "value"} : statistic_axis(*name);
  y.scale = scale;
  if (scale == ScaleKind::logarithmic) {
    y.least.reset();
    y.greatest.reset();
  }
  return Chart{.title = name == nullptr ? names.all_tensors() : fmt::format("{} of {}", *name, names.all_tensors()),
               .subtitle = std::move(subtitle),
               .x = names.steps(),
               .y = std::move(y),
               .content = CurveSet{std::move(curves)}};
}

std::vector<Chart> Curves::take_charts(std::span<const std::string> reductions, ScaleKind scale) {
  std::erase_if(curves_, [](const auto& one) { return one.second.numbers.empty(); });
  CurveNames names;
  for (const auto& [key, curve] : curves_) {
    const auto& [trial, tensor, worker, mode, smooth, reduction] = key;
    names.add(trial - 1, tensor, mode, worker);
  }
  std::vector<Chart> charts;
  const std::vector<std::size_t> order = percentile_order(reductions);
  if (order.size() >= 3) {
    charts = take_fans(names, reductions, order, scale);
  } else {
    for (std::size_t at = 0; at < std::max<std::size_t>(reductions.size(), 1); ++at) {
      if (std::optional<Chart> chart = take_chart(names, at, reductions.empty() ? nullptr : &reductions[at], scale)) {
        charts.push_back(std::move(*chart));
      }
    }
  }
  curves_.clear();
  return charts;
}

}  // namespace smd::tool
