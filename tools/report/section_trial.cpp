// SPDX-License-Identifier: Apache-2.0
// What each trial is; of several, one table above everything else.
#include "cli/escape.hpp"
#include "cli/mapped.hpp"
#include "cli/number_format.hpp"
#include "cli/text.hpp"
#include "html.hpp"
#include "rows/cell.hpp"
#include "sections.hpp"
#include "text/number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace smd::tool::report {

namespace {

constexpr std::size_t most_losses = 4;

/// The losses that most trials have.
std::vector<std::string> common_losses(std::span<const TrialReport> trials) {
  std::map<std::string, std::size_t> counts;
  for (const TrialReport& trial : trials) {
    for (const LossFacts& loss : losses_of(trial)) {
      ++counts[loss.name()];
    }
  }
  std::vector<std::string> names = keys_of(counts);
  std::ranges::stable_sort(names, [&](const std::string& a, const std::string& b) { return counts[a] > counts[b]; });
  names.resize(std::min(names.size(), most_losses));
  return names;
}

/// The hyperparameters whose values differ; one that a trial lacks differs.
std::vector<std::string> differing_keys(std::span<const TrialReport> trials) {
  std::map<std::string, std::vector<HpValue>> values;
  for (const TrialReport& trial : trials) {
    for (const auto& [key, value] : trial.facts.hyperparameters) {
      values[key].emplace_back(value);
    }
  }
  const auto read = std::ranges::count_if(trials, [](const TrialReport& trial) { return trial.unread.empty(); });
  std::erase_if(values, [read](const auto& one) { return std::ranges::count(one.second, one.second.front()) >= read; });
  return mapped(values, [](const auto& one) { return one.first; });
}

// Numbers stay whole, also those that a file has as text.
HtmlCell value_cell(const std::string& json) {
  std::string text;
  append_text(text, HpValue(json).cell(), 0);
  return {name_html(text), text::number_of(text).has_value()};
}

constexpr std::size_t most_named = 12;

std::string facts_html(const TrialReport& trial) {
  const TrialFacts& facts = trial.facts;
  std::string out = "<dl>\n";
  const auto put = [&](std::string_view what, const std::string& html) {
    if (!html.empty()) {
      out += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", what, html);
    }
  };
  put("layout", xml(facts.layout));
  put("status", xml(facts.status) + (facts.exit_code ? fmt::format(", exit code {}", *facts.exit_code) : ""));
  put("steps", !facts.first_step ? "none"
                                 : fmt::format("{}, from {} to {}", grouped(facts.steps), facts.first_step->value,
                                               facts.last_step->value));
  if (facts.last_complete != facts.last_step && facts.last_complete) {
    put("last complete step", std::to_string(facts.last_complete->value));
  }
  put("modes", text::listed(facts.modes, most_named, name_html));
  put("tensors", grouped(facts.tensors));
  put("workers", facts.workers.size() == 1 ? name_html(facts.workers.begin()->first) : grouped(facts.workers.size()));
  put("collections", text::listed(facts.collections, most_named, name_html));
  put("bytes of records", bytes_text(facts.bytes));
  put("last written", xml(facts.written));
  if (facts.superseded != 0) {
    put("superseded values", grouped(facts.superseded));
  }
  return out + "</dl>\n";
}

std::string hyperparameters_html(const TrialFacts& facts) {
  if (facts.hyperparameters.empty()) {
    return {};
  }
  const auto rows = mapped(facts.hyperparameters, [](const auto& one) {
    return std::vector<HtmlCell>{{name_html(one.first)}, {name_html(one.second)}};
  });
  const std::vector<std::string> header = {"hyperparameter", "value"};
  return details_html(fmt::format("{} hyperparameters", rows.size()), table_html("hyperparameters", header, rows));
}

std::string folded_list_html(const std::vector<std::string>& lines, std::string_view noun) {
  return lines.empty() ? std::string() : details_html(counted(lines.size(), noun), list_html(mapped(lines, name_html)));
}

}  // namespace

std::string runs_section(const PageContext& page) {
  if (page.trials.size() < 2) {
    return {};
  }
  const std::vector<std::string> losses = common_losses(page.trials);
  const std::vector<std::string> keys = differing_keys(page.trials);
  const bool statuses = std::ranges::any_of(
      page.trials, [&](const TrialReport& trial) { return trial.facts.status != page.trials.front().facts.status; });
  std::vector<std::string> header = {"trial"};
  if (statuses) {
    header.emplace_back("status");
  }
  header.emplace_back("last step");
  for (const std::string& loss : losses) {
    header.insert(header.end(), {loss + ": best", "last"});
  }
  header.insert(header.end(), keys.begin(), keys.end());
  header.emplace_back("rules that triggered");
  std::vector<std::vector<HtmlCell>> rows;
  for (const TrialReport& trial : page.trials) {
    const TrialFacts& facts = trial.facts;
    std::vector<HtmlCell>& row = rows.emplace_back();
    row.push_back({name_html(trial.label)});
    if (statuses) {
      row.push_back({trial.unread.empty() ? facts.status : "unreadable"});
    }
    row.push_back({facts.last_step ? std::to_string(facts.last_step->value) : "", true});
    const std::vector<LossFacts> of_trial = losses_of(trial);
    for (const std::string& loss : losses) {
      const auto found = std::ranges::find(of_trial, loss, &LossFacts::name);
      const bool known = found != of_trial.end();
      row.push_back(known && found->facts.least
                        ? HtmlCell{fmt::format("{} <span class=\"quiet\">at {:.0f}</span>",
                                               short_text(found->facts.least->y), found->facts.least->x),
                                   true, number_text(found->facts.least->y)}
                        : HtmlCell{"", true});
      row.push_back(known ? HtmlCell{short_text(found->facts.last.y), true, number_text(found->facts.last.y)}
                          : HtmlCell{"", true});
    }
    for (const std::string& key : keys) {
      const auto found = facts.hyperparameters.find(key);
      row.push_back(found == facts.hyperparameters.end() ? HtmlCell{} : value_cell(found->second));
    }
    std::string rules;
    for (const RuleResult& result : trial.results) {
      if (result.status == RuleStatus::issues_found) {
        append_part(rules, name_html(result.name));
      }
    }
    row.push_back({rules.empty() ? rules : fmt::format("<span class=\"names\">{}</span>", rules)});
  }
  return table_html("the trials", header, rows);
}

std::string trial_section(const PageContext& page) {
  std::string out;
  for (const TrialReport& trial : page.trials) {
    const std::string facts =
        trial.unread.empty()
            ? facts_html(trial) + hyperparameters_html(trial.facts) + folded_list_html(trial.facts.alerts, "alert") +
                  folded_list_html(trial.facts.problems, "problem") + folded_list_html(trial.facts.notes, "note")
            : fmt::format("<p>{}</p>\n", name_html(trial.unread));
    out += page.trials.size() == 1 ? facts : details_html(name_html(trial.label), facts);
  }
  return out;
}

}  // namespace smd::tool::report
