// SPDX-License-Identifier: Apache-2.0
// Several trials: one table of them, above everything else.
#include "cli/number_format.hpp"
#include "html.hpp"
#include "rows/hyperparameter.hpp"
#include "sections.hpp"
#include "text/number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace smd::tool::report {

namespace {

constexpr std::size_t most_losses = 4;

/// The losses that most trials have.
std::vector<std::string> common_losses(std::span<const TrialReport> trials) {
  std::map<std::string, std::size_t> counts;
  for (const TrialReport& trial : trials) {
    for (const LossFacts& loss : losses_of(trial)) {
      ++counts[loss.name];
    }
  }
  std::vector<std::string> names;
  names.reserve(counts.size());
  for (const auto& [name, count] : counts) {
    names.push_back(name);
  }
  std::ranges::stable_sort(names, [&](const std::string& a, const std::string& b) { return counts[a] > counts[b]; });
  names.resize(std::min(names.size(), most_losses));
  return names;
}

/// The hyperparameters whose values differ; one that a trial lacks differs.
std::vector<std::string> differing_keys(std::span<const TrialReport> trials) {
  std::map<std::string, std::pair<std::set<std::string>, std::size_t>> values;  // and how many trials have one
  std::size_t read = 0;
  for (const TrialReport& trial : trials) {
    read += trial.unread.empty() ? 1 : 0;
    for (const auto& [key, value] : trial.facts.hyperparameters) {
      values[key].first.insert(value);
      ++values[key].second;
    }
  }
  std::vector<std::string> keys;
  for (const auto& [key, found] : values) {
    if (found.first.size() > 1 || found.second < read) {
      keys.push_back(key);
    }
  }
  return keys;
}

// Numbers stay whole, also those that a file has as text.
HtmlCell value_cell(const std::string& json) {
  std::string text;
  append_text(text, HpValue(json).cell(), 0);
  return {name_html(text), text::number_of(text).has_value()};
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
      row.push_back(known && found->best ? HtmlCell{fmt::format("{} <span class=\"quiet\">at {:.0f}</span>",
                                                                short_text(found->best->y), found->best->x),
                                                    true, number_text(found->best->y)}
                                         : HtmlCell{"", true});
      row.push_back(known ? HtmlCell{short_text(found->last.y), true, number_text(found->last.y)} : HtmlCell{"", true});
    }
    for (const std::string& key : keys) {
      const auto found = facts.hyperparameters.find(key);
      row.push_back(found == facts.hyperparameters.end() ? HtmlCell{} : value_cell(found->second));
    }
    std::string rules;
    for (const RuleResult& result : trial.results) {
      if (result.status == RuleStatus::issues_found) {
        rules += (rules.empty() ? "" : ", ") + name_html(result.name);
      }
    }
    row.push_back({rules});
  }
  return section_html("runs", "The trials", table_html("the trials", header, rows));
}

}  // namespace smd::tool::report
