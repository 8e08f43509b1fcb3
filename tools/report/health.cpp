// SPDX-License-Identifier: Apache-2.0
// What the first screen says, in sentences.
#include "brief.hpp"
#include "html.hpp"
#include "sections.hpp"
#include "select/selection.hpp"

#include "cli/xml_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace smd::tool::report {

namespace {

constexpr std::size_t most_items = 6;

struct Counts {
  std::size_t evaluated = 0;  // rules that looked at something
  std::size_t triggered = 0;
  std::size_t errors = 0;
};

Counts counts_of(const TrialReport& trial) {
  Counts counts;
  for (const RuleResult& result : trial.results) {
    counts.triggered += result.status == RuleStatus::issues_found ? 1 : 0;
    counts.errors += result.status == RuleStatus::error ? 1 : 0;
    counts.evaluated += result.status != RuleStatus::not_evaluated && result.status != RuleStatus::error ? 1 : 0;
  }
  return counts;
}

std::string rules_word(std::size_t number) { return fmt::format("{} {}", number, number == 1 ? "rule" : "rules"); }

}  // namespace

Headline headline_of(const TrialReport& trial) {
  if (!trial.unread.empty()) {
    return {"unknown", "Not read: " + trial.unread};
  }
  const Counts counts = counts_of(trial);
  if (counts.triggered > 0) {
    return {"bad", fmt::format("{} of {} found something wrong", counts.triggered, rules_word(counts.evaluated))};
  }
  if (counts.errors > 0 || !trial.facts.problems.empty()) {
    return {"unknown", counts.errors > 0 ? fmt::format("Not sure: {} could not be evaluated", rules_word(counts.errors))
                                         : "Not sure: not everything could be read"};
  }
  if (counts.evaluated == 0) {
    return {"unknown", "Not evaluated: no rule had anything to evaluate"};
  }
  return {"good", fmt::format("No sign of trouble: {} looked, none found anything", rules_word(counts.evaluated))};
}

namespace {

void add_triggered(std::vector<std::string>& items, const TrialReport& trial, std::size_t number) {
  for (std::size_t i = 0; i < trial.results.size(); ++i) {
    const RuleResult& result = trial.results[i];
    if (result.status != RuleStatus::issues_found || result.findings.empty()) {
      continue;
    }
    const Finding& first = result.findings.front();
    const std::string when = first.step ? fmt::format("from step {}: ", first.step->value) : std::string();
    items.push_back(fmt::format("<a href=\"#{}\">{}</a> {}{}", rule_anchor(number, i), name_html(result.name), when,
                                name_html(short_numbers(first.message))));
  }
}

void add_not_finite(std::vector<std::string>& items, const TrialReport& trial) {
  const auto first = first_not_finite(trial);
  if (!first) {
    return;
  }
  const auto& all = trial.histories->tensors;
  const auto tensors =
      std::count_if(all.begin(), all.end(), [](const auto& one) { return one.second.first_not_finite.has_value(); });
  items.push_back(fmt::format("NaN or infinities in {} {}, first in {} at step {}", tensors,
                              tensors == 1 ? "tensor" : "tensors", name_html(first->tensor), first->step.value));
}

std::string step_text(const ChartPoint& point) { return fmt::format("{:.0f}", point.x); }

std::string loss_item(const std::string& name, Mode mode, const CurveFacts& facts, bool say_mode) {
  std::string text = fmt::format("{}{}: {} at step {}", name_html(name),
                                 say_mode ? fmt::format(" ({})", mode_text(mode)) : std::string(),
                                 short_text(facts.first.y), step_text(facts.first));
  if (facts.counts.points > 1) {
    text += fmt::format(", {} at step {}", short_text(facts.last.y), step_text(facts.last));
  }
  if (facts.least && facts.least->x != facts.last.x && facts.least->x != facts.first.x) {
    text += fmt::format("; least {} at step {}", short_text(facts.least->y), step_text(*facts.least));
  }
  return text;
}

void add_losses(std::vector<std::string>& items, const TrialReport& trial) {
  std::size_t losses = 0;
  for (const auto& [name, history] : trial.histories->tensors) {
    if (history.role != Role::loss) {
      continue;
    }
    for (const auto& [mode, series] : history.modes) {
      const ThinCurve& curve = series.of(Measure::mean);
      if (!curve.empty() && ++losses <= 4) {
        items.push_back(loss_item(name, mode, curve.facts(), history.modes.size() > 1));
      }
    }
  }
}

std::string list_html(const std::vector<std::string>& items, std::string_view rest) {
  if (items.empty()) {
    return {};
  }
  std::string out = "<ul>\n";
  for (std::size_t i = 0; i < std::min(items.size(), most_items); ++i) {
    out += fmt::format("<li>{}</li>\n", items[i]);
  }
  if (items.size() > most_items) {
    out += fmt::format("<li><a href=\"{}\">and {} more</a></li>\n", rest, items.size() - most_items);
  }
  return out + "</ul>\n";
}

}  // namespace

std::string health_html(const PageContext& page) {
  std::string out;
  for (std::size_t i = 0; i < page.trials.size(); ++i) {
    const TrialReport& trial = page.trials[i];
    const Headline headline = headline_of(trial);
    out += fmt::format("<div class=\"health {}\">\n", headline.look);
    if (page.trials.size() > 1) {
      out += fmt::format("<p class=\"quiet\">{}</p>\n", name_html(trial.name));
    }
    out += fmt::format("<p class=\"headline\">{}</p>\n", name_html(headline.text));
    if (trial.histories != nullptr) {
      std::vector<std::string> broken;
      add_triggered(broken, trial, i);
      add_not_finite(broken, trial);
      for (const std::string& problem : trial.facts.problems) {
        broken.push_back(name_html(problem));
      }
      std::vector<std::string> losses;
      add_losses(losses, trial);
      out += list_html(broken, trial.results.empty() ? "#trial" : "#rules");
      out += list_html(losses, "#losses");
    }
    out += "</div>\n";
  }
  return out;
}

}  // namespace smd::tool::report
