// SPDX-License-Identifier: Apache-2.0
#include "rows/curves.hpp"

#include "select/selection.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace smd::tool {

namespace {

constexpr int curve_precision = 4;

constexpr std::size_t reduction_place = 3;
constexpr std::array<Column, 10> columns = {{{.name = "tensor", .asked = true},
                                             {.name = "worker"},
                                             {.name = "mode"},
                                             {.name = "reduction"},
                                             {.name = "curve", .curve = true},
                                             {.name = "last", .align = Align::right, .asked = true},
                                             {.name = "min", .align = Align::right, .asked = true},
                                             {.name = "max", .align = Align::right, .asked = true},
                                             {.name = "steps", .align = Align::right},
                                             written_column}};

struct Extremes {
  Cell least;
  Cell greatest;
};

Extremes finite_extremes(const std::vector<double>& numbers) {
  const double* least = nullptr;
  const double* greatest = nullptr;
  for (const double& number : numbers) {
    if (std::isfinite(number)) {
      least = least == nullptr || number < *least ? &number : least;
      greatest = greatest == nullptr || number > *greatest ? &number : greatest;
    }
  }
  return least == nullptr ? Extremes() : Extremes{*least, *greatest};
}

}  // namespace

std::span<const Column> curve_columns() noexcept { return columns; }

void Curves::set_trial(std::string_view name, bool again) {
  const auto known = again ? std::find(trials_.begin(), trials_.end(), name) : trials_.end();
  trial_ = static_cast<std::size_t>(known - trials_.begin()) + 1;
  if (known == trials_.end()) {
    trials_.emplace_back(name);
  }
}

void LiveCurves::draw(const OutputOptions& options, bool several_trials, std::span<const std::string> reductions,
                      bool last) {
  const auto begin = std::chrono::steady_clock::now();
  if (begin < next_ && !last) {
    return;
  }
  OutputFile table = OutputFile::screen();
  curves_.print(table, options, several_trials, reductions, messages_);
  std::string text;
  table.take_text(text);
  screen_.show(text);
  const auto end = std::chrono::steady_clock::now();
  next_ = end + 4 * (end - begin);
}

Curves::Curve& Curves::curve_of(const Point& point) {
  return curves_[{trial_, std::string(point.tensor), std::string(point.worker), point.mode, point.reduction}];
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
    const auto& [trial, tensor, worker, mode, reduction] = key;
    if (trial != of_trial) {
      of_trial = trial;
      rows.set_trial(trials_[trial - 1]);
    }
    if (curve.numbers.empty()) {
      continue;
    }
    const Extremes extremes = finite_extremes(curve.numbers);
    const std::string steps = std::to_string(curve.steps.front()) + " to " + std::to_string(curve.steps.back());
    rows.row({tensor, worker, to_string(mode), reductions.empty() ? Cell() : Cell(reductions[reduction]),
              CurveCell{curve.numbers}, curve.numbers.back(), extremes.least, extremes.greatest, steps, curve.written});
  }
  rows.finish();
}

}  // namespace smd::tool
