// SPDX-License-Identifier: Apache-2.0
// The table of tensors, the worst first, and the commands that print what the page shows.
#include "cli/mapped.hpp"
#include "html.hpp"
#include "sections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

namespace smd::tool::report {

namespace {

constexpr std::size_t most_rows = 60;  // in one table, before layers are folded away
constexpr std::array<const char*, 6> role_texts = {"loss", "gradient", "weight", "bias", "activation", "other"};

HtmlCell number_cell(const std::optional<double>& number) {
  return number ? HtmlCell{short_text(*number), true} : HtmlCell{{}, true};
}

// The least or greatest number that a curve of any mode had.
std::optional<double> extreme(const TensorHistory& history, Measure measure, bool least) {
  std::optional<double> found;
  for (const auto& [mode, series] : history.modes) {
    const CurveFacts& facts = series.of(measure).facts();
    const std::optional<ChartPoint>& point = least ? facts.least : facts.greatest;
    if (point && (!found || (least ? point->y < *found : point->y > *found))) {
      found = point->y;
    }
  }
  return found;
}

// The number at the last step over all modes.
std::optional<double> last_of(const TensorHistory& history, Measure measure) {
  std::optional<ChartPoint> last;
  for (const auto& [mode, series] : history.modes) {
    const ThinCurve& curve = series.of(measure);
    if (!curve.empty() && (!last || curve.facts().last.x > last->x)) {
      last = curve.facts().last;
    }
  }
  return last ? std::optional(last->y) : std::nullopt;
}

std::vector<HtmlCell> row_of(const PageContext& page, const TrialReport& trial, const std::string& name,
                             const TensorHistory& history) {
  std::vector<HtmlCell> row = {{page.figures.linked_name(name)},
                               {role_texts[static_cast<std::size_t>(history.role)]},
                               {std::to_string(history.steps), true},
                               {std::to_string(history.first_step.value), true},
                               {std::to_string(history.last_step.value), true},
                               {history.elements ? std::to_string(*history.elements) : std::string(), true},
                               number_cell(extreme(history, Measure::min, true)),
                               number_cell(extreme(history, Measure::max, false)),
                               number_cell(last_of(history, Measure::mean)),
                               number_cell(last_of(history, Measure::l2)),
                               number_cell(last_of(history, Measure::zero_fraction)),
                               {history.elements ? std::to_string(history.nan) : std::string(), true},
                               {history.elements ? std::to_string(history.inf) : std::string(), true},
                               {std::to_string(page.figures.findings_of(name)), true}};
  if (page.trials.size() > 1) {
    row.insert(row.begin(), HtmlCell{name_html(trial.label)});
  }
  return row;
}

std::string table_of(const PageContext& page, const std::vector<std::string>& names) {
  std::vector<std::string> header = {"tensor", "role",     "steps",     "first step", "last step",           "elements",
                                     "least",  "greatest", "last mean", "last l2",    "last share of zeros", "NaN",
                                     "inf",    "findings"};
  if (page.trials.size() > 1) {
    header.insert(header.begin(), "trial");
  }
  std::vector<std::vector<HtmlCell>> rows;
  for (const std::string& name : names) {
    for (const TrialReport& trial : page.trials) {
      if (const TensorHistory* const history = trial.history(name); history != nullptr && history->steps != 0) {
        rows.push_back(row_of(page, trial, name, *history));
      }
    }
  }
  return table_html("tensors", header, rows);
}

}  // namespace

std::string tensors_section(const PageContext& page) {
  const std::vector<std::string> names =
      worst_first(page, tensors_of(page.trials, [](const TensorHistory&) { return true; }));
  if (names.empty()) {
    return {};
  }
  const std::uint64_t left_out =
      sum_of(page.trials, [](const TrialReport& trial) { return trial.histories.tensors_left_out; });
  const std::string rest =
      left_out == 0 ? std::string()
                    : fmt::format(
                          "<p class=\"remark\">{} more tensors are left out of this page; -n, -e and -c choose "
                          "which it shows.</p>\n",
                          left_out);
  if (names.size() <= most_rows) {
    return rest + table_of(page, names);
  }
  std::vector<std::string> bad;
  std::ranges::copy_if(names, std::back_inserter(bad), [&](const std::string& name) {
    return page.figures.findings_of(name) != 0 || not_finite(page, name);
  });
  bad.resize(std::min(bad.size(), most_rows));
  const std::string out = rest + (bad.empty() ? std::string() : table_of(page, bad));
  const std::string groups = joined(layer_groups(names), "", [&](const LayerGroup& group) {
    return details_html(fmt::format("{}: {}", name_html(group.name), group.tensors.size()),
                        table_of(page, group.tensors));
  });
  return out + details_html(fmt::format("All {} tensors, by layer", names.size()), groups);
}

std::string commands_section(const PageContext& page) {
  std::string out = "<p>Each figure has the command line behind it that prints its numbers. All at once:</p>\n";
  out += command_html(fmt::format("smd-ls {} --summary", page.operands)) +
         command_html(fmt::format("smd-ls {} -l", page.operands));
  for (const auto& [role, collection, reduction] : {std::tuple(Role::loss, "-c losses", "mean"),
                                                    {Role::gradient, "-c gradients", "l2"},
                                                    {Role::weight, "-c weights", "l2"}}) {
    if (!tensors_of(page.trials, [of = role](const TensorHistory& history) { return history.role == of; }).empty()) {
      out += command_html(reduce_command(page, collection, reduction));
    }
  }
  return out + command_html(reduce_command(page, "-e .", "min,max,mean,l2,nan,inf,zero_fraction")) +
         command_html("smd-rule --list");
}

}  // namespace smd::tool::report
