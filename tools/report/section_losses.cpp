// SPDX-License-Identifier: Apache-2.0
// Losses, training beside validation, and other scalars.
#include "cli/mapped.hpp"
#include "html.hpp"
#include "sections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace smd::tool::report {

namespace {

constexpr std::size_t losses_shown = 4;
constexpr std::size_t scalars_shown = 4;
constexpr std::size_t most_figures = 60;  // of one section

// The names of each figure, by its title: validation is with its training, unless many trials are in one figure.
std::map<std::string, std::set<std::string>> groups_of(const PageContext& page, const std::vector<std::string>& names) {
  constexpr std::size_t most_paired = 4;
  std::map<std::string, std::string> training_of;
  for (const TrialReport& trial : page.trials.first(page.trials.size() <= most_paired ? page.trials.size() : 0)) {
    for (const TensorPair& pair : trial.pairs) {
      training_of.emplace(pair.validation, pair.training);
    }
  }
  std::map<std::string, std::set<std::string>> groups;
  for (const std::string& name : names) {
    const auto pair = training_of.find(name);
    groups[pair == training_of.end() ? name : pair->second].insert(name);
  }
  return groups;
}

// Whether a logarithmic axis shows more than a linear one.
bool spans_decades(const std::vector<NamedCurve>& curves) {
  double least = INFINITY;
  double greatest = 0;
  for (const NamedCurve& curve : curves) {
    const CurveFacts& facts = curve.curve->facts();
    least = facts.least ? std::min(least, facts.least->y) : least;
    greatest = facts.greatest ? std::max(greatest, facts.greatest->y) : greatest;
  }
  return least > 0 && greatest / least > 10;
}

std::string value_figure(const PageContext& page, const std::string& title, const std::set<std::string>& names) {
  const std::vector<NamedCurve> curves = curves_of(page.trials, names, Measure::mean);
  if (curves.empty()) {
    return {};
  }
  const bool scalar = std::ranges::all_of(
      curves, [&](const NamedCurve& curve) { return page.trials[curve.trial].history(curve.tensor)->scalar(); });
  Figure figure = {.chart = {.title = title,
                             .y = {.name = scalar ? "value" : "mean of the elements", .robust = true},
                             .content = curve_set(page.trials, curves)},
                   .tensors = names,
                   .commands = {reduce_command(page, joined(names, " ", name_option), "mean")}};
  figure.tensors.emplace();  // findings about no tensor concern the loss, or everything
  std::string out = page.figures.add(figure);
  if (spans_decades(curves)) {
    figure.chart.y.scale = ScaleKind::logarithmic;
    figure.chart.y.name += ", logarithmic";
    out = fmt::format("<div>{}{}</div>\n", out, details_html("Logarithmic", page.figures.add(std::move(figure))));
  }
  return out;
}

// Whether a group holds training and validation, as two tensors or as two modes.
bool has_both_sides(const PageContext& page, const std::set<std::string>& group) {
  return group.size() > 1 || std::ranges::any_of(page.trials, [&](const TrialReport& trial) {
           const TensorHistory* const history = trial.history(*group.begin());
           return history != nullptr && history->modes.contains(Mode::train) && history->modes.contains(Mode::eval);
         });
}

// How many values the figure of a group has.
std::size_t values_in(const PageContext& page, const std::set<std::string>& group) {
  return sum_of(curves_of(page.trials, group, Measure::mean),
                [](const NamedCurve& curve) { return curve.curve->facts().counts.points; });
}

// The figures, most important first: with `longest_first` the one with most values, then findings, then NaN and
// infinities, then both sides, then the order of names.
std::vector<std::string> value_figures(const PageContext& page, const std::vector<std::string>& names,
                                       bool longest_first = false) {
  using Rank = std::tuple<std::size_t, bool, bool>;
  const std::map<std::string, std::set<std::string>> groups = groups_of(page, names);
  std::vector<std::pair<Rank, std::string>> titles;
  titles.reserve(groups.size());
  for (const auto& [title, group] : groups) {
    Rank rank = {0, false, has_both_sides(page, group)};
    for (const std::string& name : group) {
      std::get<0>(rank) += page.figures.findings_of(name);
      std::get<1>(rank) = std::get<1>(rank) || not_finite(page, name);
    }
    titles.emplace_back(rank, title);
  }
  std::ranges::stable_sort(titles, [](const auto& a, const auto& b) { return a.first > b.first; });
  if (longest_first && !titles.empty()) {
    const auto longest =
        std::ranges::max_element(titles, {}, [&](const auto& one) { return values_in(page, groups.at(one.second)); });
    std::rotate(titles.begin(), longest, longest + 1);
  }
  titles.resize(std::min(titles.size(), most_figures));
  return mapped(titles, [&](const auto& one) { return value_figure(page, one.second, groups.at(one.second)); });
}

std::string left_out(const PageContext& page, std::size_t names, std::size_t figures, std::string_view options) {
  return names <= most_figures || figures < most_figures
             ? std::string()
             : fmt::format("<p class=\"remark\">The first {} of {}.</p>\n", figures, names) +
                   command_html(reduce_command(page, options, "mean"));
}

}  // namespace

LossSection losses_section(const PageContext& page) {
  const std::vector<std::string> names =
      tensors_of(page.trials, [](const TensorHistory& history) { return history.role == Role::loss; });
  std::vector<std::string> figures = value_figures(page, names, true);
  const bool a_curve =
      std::ranges::any_of(names, [&](const std::string& name) { return values_in(page, {name}) > page.trials.size(); });
  LossSection section;
  const std::string more = left_out(page, names.size(), figures.size(), "-c losses");
  if (a_curve) {  // single points are no picture to begin with
    section.first = figures.front();
    figures.erase(figures.begin());
  }
  section.rest = figure_grid(std::move(figures), losses_shown, "losses") + more;
  return section;
}

std::string scalars_section(const PageContext& page) {
  const std::vector<std::string> names = tensors_of(
      page.trials, [](const TensorHistory& history) { return history.role == Role::other && history.scalar(); });
  const std::vector<std::string> figures = value_figures(page, names);
  return figure_grid(figures, scalars_shown, "scalars") + left_out(page, names.size(), figures.size(), "-e .");
}

}  // namespace smd::tool::report
