// SPDX-License-Identifier: Apache-2.0
// Curves of many tensors in one figure: norms of gradients and weights, updates, zeros of activations.
#include "cli/mapped.hpp"
#include "cli/text.hpp"
#include "html.hpp"
#include "sections.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace smd::tool::report {

namespace {

constexpr std::size_t most_together = 60;  // tensors in one figure
constexpr std::size_t worst_shown = 24;    // if there are more
constexpr std::size_t rows_of_group = 8;   // in the table behind a figure of one group

// One statistic of many tensors.
struct Many {
  std::string title;
  std::string reduction = {};  // empty: no command prints it
  std::string collection = {};
  ChartAxis y;
  Measure measure = Measure::l2;
};

std::string figure_of(const PageContext& page, const Many& many, const std::string& title,
                      const std::vector<std::string>& names, const std::string& of, std::size_t all = 0) {
  const std::set<std::string> together(names.begin(), names.end());
  const std::vector<NamedCurve> curves = curves_of(page.trials, together, many.measure);
  if (curves.empty()) {
    return {};
  }
  Figure figure = {.chart = {.title = title, .y = many.y, .content = curve_set(page.trials, curves, all)},
                   .tensors = together};
  if (all != 0) {
    figure.rows = rows_of_group;
  }
  if (!many.reduction.empty()) {
    figure.commands.push_back(reduce_command(page, of, many.reduction));
  } else {
    figure.remark = "The root of the sum of squares of what changed since the step before, over that of the weights.";
  }
  return page.figures.add(std::move(figure));
}

// All in one figure or, if there are many, the worst in one, and each group of layers one click away.
std::string figures_of(const PageContext& page, const Many& many, const std::vector<std::string>& names) {
  const std::string of_all = fmt::format("-c {}", shell_word(many.collection));
  if (names.size() <= most_together) {
    return figure_of(page, many, many.title, names, of_all);
  }
  const std::vector<std::string> ordered = worst_first(page, names);
  std::string out =
      figure_of(page, many, fmt::format("{}: {} of {} tensors, the worst first", many.title, worst_shown, names.size()),
                {ordered.begin(), ordered.begin() + worst_shown}, of_all);
  std::string groups;
  for (const LayerGroup& group : layer_groups(ordered)) {
    const std::string figure = figure_of(
        page, many, fmt::format("{}: {}", many.title, group.name), group.tensors,
        group.by_name ? fmt::format("-e {}", shell_word(fmt::format("^{}", escaped_pattern(group.name)))) : of_all,
        names.size());
    const std::size_t findings =
        sum_of(group.tensors, [&](const std::string& name) { return page.figures.findings_of(name); });
    groups += figure.empty()
                  ? ""
                  : details_html(fmt::format("{}: {}{}", name_html(group.name), counted(group.tensors.size(), "tensor"),
                                             findings == 0 ? "" : fmt::format(", {} findings", findings)),
                                 figure);
  }
  return fmt::format("<div>{}{}</div>\n", out, details_html("All, by layer", groups));
}

std::vector<std::string> of_role(const PageContext& page, Role role) {
  return tensors_of(page.trials, [role](const TensorHistory& history) { return history.role == role; });
}

}  // namespace

std::string norms_section(const PageContext& page) {
  const ChartAxis norm = {.name = "l2 norm: root of the sum of squares", .scale = ScaleKind::logarithmic};
  const Many update = {.title = "Update to weight ratio",
                       .collection = "weights",
                       .y = {.name = "|change since the step before| / |weights|", .scale = ScaleKind::logarithmic},
                       .measure = Measure::update_ratio};
  const std::vector<std::string> weights = of_role(page, Role::weight);
  std::string out =
      figure_grid({figures_of(page, {"Gradients", "l2", "gradients", norm}, of_role(page, Role::gradient)),
                   figures_of(page, {"Weights", "l2", "weights", norm}, weights),
                   figures_of(page, {"Biases", "l2", "biases", norm}, of_role(page, Role::bias)),
                   figures_of(page, update, weights)},
                  4, {});
  for (const TrialReport& trial : page.trials) {
    if (trial.histories.left_out != 0 && !out.empty()) {
      out += fmt::format("<p class=\"remark\">{}: the ratio of updates leaves {} large weights out.</p>\n",
                         name_html(trial.label), trial.histories.left_out);
    }
  }
  return out;
}

std::string activations_section(const PageContext& page) {
  const Many zeros = {.title = "Share of zeros",
                      .reduction = "zero_fraction",
                      .y = {.name = "share of zeros, of 1", .least = 0, .greatest = 1},
                      .measure = Measure::zero_fraction};
  const std::vector<std::string> names = tensors_of(
      page.trials, [](const TensorHistory& history) { return history.role == Role::activation && !history.scalar(); });
  const std::string of = joined(std::span(names).first(std::min(names.size(), worst_shown)), " ", name_option);
  std::vector<std::string> shown = worst_first(page, names);
  shown.resize(std::min(shown.size(), most_together));
  return figure_grid({figure_of(page, zeros, zeros.title, shown, of)}, 1, {});
}

}  // namespace smd::tool::report
