// SPDX-License-Identifier: Apache-2.0
#include "figures.hpp"

#include "cli/escape.hpp"
#include "cli/number_format.hpp"
#include "draw/drawing.hpp"
#include "draw/palette.hpp"
#include "draw/svg.hpp"
#include "html.hpp"
#include "rows/curves.hpp"
#include "text/number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace smd::tool::report {

namespace {

constexpr std::size_t most_marks = 400;          // in one figure; of more, one in so many
constexpr std::size_t points_of_figure = 14000;  // of all curves, about 200 kB

std::string numbers_table(const Chart& chart, std::size_t most_rows) {
  const ChartTable table = chart_table(chart);
  std::vector<std::vector<HtmlCell>> rows;
  for (const std::vector<std::string>& row : std::span(table.rows).first(std::min(table.rows.size(), most_rows))) {
    std::vector<HtmlCell>& cells = rows.emplace_back();
    for (const std::string& cell : row) {
      const std::optional<double> number = cells.empty() ? std::nullopt : text::number_of(cell);
      // With six digits: the command behind the figure prints all.
      const bool is_long = number && cell.find_first_of(".e") != std::string::npos;
      cells.push_back(
          {number || cell.empty() ? xml(is_long ? short_text(*number) : cell) : name_html(cell), number.has_value()});
    }
  }
  std::string out = table_html(chart.title, table.header, rows);
  if (table.rows.size() > most_rows) {
    out += fmt::format("<p class=\"remark\">And {} more; the command below prints all.</p>\n",
                       table.rows.size() - most_rows);
  }
  return out;
}

// The numbers at the ends of the axes, from which the script computes what is under the pointer.
std::string axes_of(const Chart& chart) {
  const auto* const set = std::get_if<CurveSet>(&chart.content);
  if (set == nullptr) {
    return {};
  }
  const AxisRanges ranges = ranges_of(set->curves, chart.y);
  if (ranges.x.empty() || ranges.y.empty()) {
    return {};
  }
  const AxisRange shown_x = Scale::extent(chart.x, ranges.x, 0.02);
  const AxisRange shown_y = Scale::extent(chart.y, ranges.y, 0.06);
  return fmt::format(" data-axes=\"{} {} {} {} {}\"", number_text(shown_x.low), number_text(shown_x.high),
                     number_text(shown_y.low), number_text(shown_y.high),
                     chart.y.scale == ScaleKind::logarithmic ? "log" : "linear");
}

// The pair in which a curve's tensor is that of validation. Null if it has no such pair.
const TensorPair* pair_of(const TrialReport& trial, const NamedCurve& curve) {
  const auto pair = std::ranges::find(trial.pairs, curve.tensor, &TensorPair::validation);
  return pair == trial.pairs.end() ? nullptr : &*pair;
}

bool is_validation(const TrialReport& trial, const NamedCurve& curve) {
  return curve.mode == Mode::eval || curve.mode == Mode::predict || pair_of(trial, curve) != nullptr;
}

}  // namespace

std::string rule_anchor(std::size_t trial, std::size_t rule) { return fmt::format("rule-{}-{}", trial + 1, rule + 1); }

std::size_t columns_for(std::size_t curves) noexcept {
  return std::clamp<std::size_t>(points_of_figure / (4 * std::max<std::size_t>(curves, 1)), 6, 560);
}

Figures::Figures(std::span<const TrialReport> trials)
    : steps_(step_axis(
          std::ranges::any_of(trials, [](const TrialReport& trial) { return trial.facts.modes.size() > 1; }))) {
  const bool several = trials.size() > 1;
  for (std::size_t trial = 0; trial < trials.size(); ++trial) {
    const std::string begin = several && !trials[trial].label.empty() ? trials[trial].label + ": " : std::string();
    for (std::size_t rule = 0; rule < trials[trial].results.size(); ++rule) {
      const std::string link = fmt::format("#{}", rule_anchor(trial, rule));
      for (const auto& [tensor, found] : trials[trial].tallies[rule].tensors()) {
        OfTensor& of = tensors_[tensor];
        of.findings += found.count;
        for (const FindingMark& mark : found.marks) {
          of.marks.push_back(
              {static_cast<double>(mark.step.value),
               fmt::format("{}step {}, {}: {}", begin, mark.step.value, trials[trial].results[rule].name, mark.message),
               link, several ? std::optional(trial) : std::nullopt});
        }
      }
    }
  }
}

std::size_t Figures::findings_of(std::string_view tensor) const {
  const auto found = tensors_.find(tensor);
  return found == tensors_.end() ? 0 : found->second.findings;
}

std::string Figures::linked_name(std::string_view tensor) const {
  const auto found = tensors_.find(tensor);
  return tensor.empty() || found == tensors_.end() || found->second.figure == 0
             ? name_html(tensor)
             : fmt::format("<a href=\"#figure-{}\">{}</a>", found->second.figure, name_html(tensor));
}

std::vector<ChartFinding> Figures::marks_of(const std::set<std::string>& tensors) const {
  std::vector<const ChartFinding*> marks;
  for (const std::string& tensor : tensors) {
    if (const auto found = tensors_.find(tensor); found != tensors_.end()) {
      for (const ChartFinding& mark : found->second.marks) {
        marks.push_back(&mark);
      }
    }
  }
  std::ranges::stable_sort(marks, {}, &ChartFinding::x);
  std::vector<ChartFinding> findings;
  std::set<std::string_view> seen;  // a rule is marked once, where it found something first
  std::erase_if(marks, [&](const ChartFinding* mark) { return !seen.insert(mark->link).second; });
  const std::size_t every = (marks.size() + most_marks - 1) / most_marks;
  for (std::size_t i = 0; i < marks.size(); i += every) {
    findings.push_back(*marks[i]);
  }
  return findings;
}

std::string Figures::add(Figure figure) {
  ++figures_;
  figure.chart.x = steps_;
  figure.chart.findings = marks_of(figure.tensors);
  for (const std::string& tensor : figure.tensors) {
    std::size_t& first = tensors_[tensor].figure;
    first = first == 0 ? figures_ : first;
  }
  std::string out =
      fmt::format("<figure id=\"figure-{}\"{}>\n{}", figures_, axes_of(figure.chart), svg_element(figure.chart));
  if (!figure.remark.empty()) {
    out += fmt::format("<p class=\"remark\">{}</p>\n", xml(figure.remark));
  }
  const std::string behind = numbers_table(figure.chart, figure.rows) + joined(figure.commands, "", command_html);
  return out + details_html("Numbers and command", behind) + "</figure>\n";
}

std::vector<NamedCurve> curves_of(std::span<const TrialReport> trials, const std::set<std::string>& tensors,
                                  Measure measure) {
  std::vector<NamedCurve> curves;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    for (const std::string& tensor : tensors) {
      if (const TensorHistory* const history = trials[i].history(tensor)) {
        for (const auto& [mode, series] : history->modes) {
          if (!series.of(measure).empty()) {
            curves.push_back({i, tensor, mode, &series.of(measure)});
          }
        }
      }
    }
  }
  return curves;
}

CurveSet curve_set(std::span<const TrialReport> trials, const std::vector<NamedCurve>& curves, std::size_t all) {
  CurveNames names;
  for (const NamedCurve& curve : curves) {
    names.add(curve.trial, curve.tensor, curve.mode);
  }
  const auto validation =
      std::ranges::count_if(curves, [&](const NamedCurve& curve) { return is_validation(trials[curve.trial], curve); });
  const bool both_sides = validation != 0 && static_cast<std::size_t>(validation) != curves.size();
  CurveSet set;
  std::map<std::pair<std::size_t, std::string_view>, std::size_t> hues_of;
  const std::size_t columns = columns_for(std::max(curves.size(), all));
  for (const NamedCurve& curve : curves) {
    const TrialReport& trial = trials[curve.trial];
    ChartCurve drawn = curve.curve->chart_curve(names.name_of(trial.label, curve.tensor, curve.mode), columns);
    const TensorPair* const pair = pair_of(trial, curve);  // training and validation have the same colour
    const std::string_view colored_as = pair == nullptr ? curve.tensor : pair->training;
    const std::size_t color =
        trials.size() > 1 ? curve.trial : hues_of.try_emplace({curve.trial, colored_as}, hues_of.size()).first->second;
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
    for (const auto& [name, history] : trial.histories.tensors) {
      if (history.steps != 0 && which(history)) {
        names.insert(name);
      }
    }
  }
  return {names.begin(), names.end()};
}

}  // namespace smd::tool::report
