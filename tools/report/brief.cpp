// SPDX-License-Identifier: Apache-2.0
// -f md, -f json: what the first screen of the page says.
#include "cli/escape.hpp"
#include "cli/mapped.hpp"
#include "cli/text.hpp"
#include "html.hpp"
#include "page.hpp"
#include "requests/record.hpp"
#include "sections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>

namespace smd::tool::report {

namespace {

constexpr std::size_t most_lines = 40;  // of a trial, in Markdown
constexpr std::size_t most_shown = 8;   // of each list
constexpr std::size_t most_name = 100;  // bytes, in Markdown
constexpr std::size_t most_text = 160;
constexpr std::size_t most_names = 400;

/// Text that is no markup, on one line.
std::string markdown_text(std::string_view text, std::size_t most = most_text) {
  const std::string shown = printable(text);
  const bool fits = shown.size() <= most;
  return with_backslashes(text::beginning(shown, fits ? most : most - 3), "\\`*_{}[]<>()#|&~") + (fits ? "" : "…");
}

/// Appends some of the lines, and how many more there are.
void append_lines(std::string& out, const std::vector<std::string>& lines, std::string_view more,
                  std::size_t most = most_shown) {
  for (std::size_t i = 0; i < std::min(lines.size(), most); ++i) {
    out += lines[i] + "\n";
  }
  out += lines.size() > most ? fmt::format(fmt::runtime(more), lines.size() - most) : "";
}

/// Appends the warnings of rules, and why those that follow losses were not evaluated, each once, as far as there is
/// room.
void append_warnings(std::string& out, const TrialReport& trial) {
  std::vector<std::pair<std::string_view, std::vector<std::string_view>>> warnings;  // and the rules that have it
  const auto add = [&](std::string_view text, const RuleResult& of) {
    auto found = std::ranges::find(warnings, text, [](const auto& one) { return one.first; });
    found = found == warnings.end() ? warnings.insert(found, {text, {}}) : found;
    add_once(found->second, std::string_view(of.name));
  };
  for (const RuleResult& result : trial.results) {
    std::ranges::for_each(result.warnings, [&](const std::string& warning) { add(warning, result); });
  }
  for (const RuleResult* const result : trial.all_results()) {
    if (result->status == RuleStatus::not_evaluated && follows_losses(*result)) {
      add(result->message, *result);
    }
  }
  if (warnings.empty()) {
    return;
  }
  const auto lines = static_cast<std::size_t>(std::ranges::count(out, '\n')) + 2;  // with a blank one, and the last
  out += "\n";
  append_lines(out,
               mapped(warnings,
                      [](const auto& one) {
                        return fmt::format("- {}: {}",
                                           markdown_text(joined(one.second, ", ", std::identity()), most_name),
                                           markdown_text(one.first));
                      }),
               "- and {} more\n", std::clamp<std::size_t>(most_lines - std::min(most_lines, lines), 1, most_shown));
}

std::vector<std::string_view> not_evaluated(const TrialReport& trial) {
  std::vector<std::string_view> names;
  for (const RuleResult* const result : trial.all_results()) {
    if (result->status == RuleStatus::not_evaluated || result->status == RuleStatus::error) {
      add_once(names, std::string_view(result->name));
    }
  }
  return names;
}

std::string trial_markdown(const TrialReport& trial) {
  const TrialFacts& facts = trial.facts;
  std::string out = fmt::format("## {}\n\n", markdown_text(trial.name, most_name));
  if (trial.unread.empty()) {
    out += fmt::format(
        "{}, {}{}, {}{}{}\n\n", facts.layout, facts.status,
        facts.exit_code ? fmt::format(", exit code {}", *facts.exit_code) : "", counted(facts.steps, "step"),
        facts.last_step ? fmt::format(", the last is {}", facts.last_step->value) : "",
        facts.alerts.empty() ? ""
                             : fmt::format(", {}: {}", counted(facts.alerts.size(), "alert"),
                                           markdown_text(fmt::format("{}", fmt::join(facts.alerts, "; ")))));
  }
  out += fmt::format("**{}**\n", markdown_text(headline_of(trial).text));
  std::vector<std::string> rules;
  for (const RuleResult& result : trial.results) {
    if (result.status == RuleStatus::issues_found || result.status == RuleStatus::error) {
      const Finding* const first = result.findings.empty() ? nullptr : &result.findings.front();
      rules.push_back(fmt::format("| {} | {} | {} |", markdown_text(result.name, most_name),
                                  first != nullptr && first->step ? std::to_string(first->step->value) : "",
                                  markdown_text(first != nullptr ? shown_message(*first) : result.message)));
    }
  }
  if (!rules.empty()) {
    out += "\n| rule | first step | |\n|---|---:|---|\n";
    append_lines(out, rules, "| and {} more | | |\n");
  }
  const std::vector<std::string> losses = mapped(losses_of(trial), [](const LossFacts& loss) {
    const std::optional<ChartPoint>& least = loss.facts.least;
    return fmt::format("| {} | {} | {} | {} |", markdown_text(loss.name(), most_name), short_text(loss.facts.last.y),
                       least ? short_text(least->y) : "", least ? fmt::format("{:.0f}", least->x) : "");
  });
  if (!losses.empty()) {
    out += "\n| loss | last | best | at step |\n|---|---:|---:|---:|\n";
    append_lines(out, losses, "| and {} more | | | |\n");
  }
  if (const auto first = first_not_finite(trial)) {
    out += fmt::format("\nNaN or an infinity came first in {} at step {}.\n", markdown_text(first->tensor, most_name),
                       first->step.value);
  }
  if (const auto names = not_evaluated(trial); !names.empty() && trial.unread.empty()) {
    out += fmt::format("\nNot evaluated: {}.\n", markdown_text(fmt::format("{}", fmt::join(names, ", ")), most_names));
  }
  if (!facts.problems.empty()) {
    out += fmt::format("\n{}: {}\n", counted(facts.problems.size(), "problem"), markdown_text(facts.problems.front()));
  }
  if (facts.superseded != 0) {
    out += fmt::format("\n{} superseded by later ones.\n", text::counted(facts.superseded, "value", "was", "were"));
  }
  append_warnings(out, trial);
  return out;
}

std::string json(const Cell& value) {
  std::string out;
  append_json_cell(out, value, 0, NonFinite::string);
  return out;
}

/// `members`: names, and their values as JSON.
std::string json_object(const std::vector<std::pair<std::string, std::string>>& members) {
  return "{" + joined(members, ",", [](const auto& one) { return json(one.first) + ":" + one.second; }) + "}";
}

template <class Items, class Write>
std::string json_array(const Items& items, Write&& write) {
  return fmt::format("[{}]", joined(items, ",", write));
}

/// The keys of results as smd-rule prints them, without what the page says elsewhere, or what differs each time.
std::vector<std::size_t> result_keys() {
  std::vector<std::size_t> keys;
  for (std::size_t i = 0; i < record_keys().size(); ++i) {
    const std::string_view name = record_keys()[i].name;
    if (name != "record" && name != "trial" && name != "elapsed") {
      keys.push_back(i);
    }
  }
  return keys;
}

std::string result_json(const TrialReport& trial, const RuleResult& result, std::size_t findings) {
  const Finding* const first = result.findings.empty() ? nullptr : &result.findings.front();
  return record_json({RecordKind::result, trial.name, result, first, findings}, result_keys(), 0, NonFinite::string);
}

std::string trial_json(const TrialReport& trial) {
  const TrialFacts& facts = trial.facts;
  const bool read = trial.unread.empty();
  std::vector<std::string> problems = facts.problems;  // there are none if it was not read
  std::ranges::copy_if(std::to_array({trial.unread, facts.incomplete}), std::back_inserter(problems),
                       [](const std::string& problem) { return !problem.empty(); });
  const auto first = first_not_finite(trial);
  std::size_t rule = 0;  // those passed over come last, and found nothing
  return json_object(
      {{"trial", json(trial.name)},
       {"layout", json(read ? Cell(facts.layout) : Cell())},
       {"status", json(read ? Cell(facts.status) : Cell("unreadable"))},
       {"steps", json(facts.steps)},
       {"last_step", json(facts.last_step)},
       {"losses",
        json_array(losses_of(trial),
                   [](const LossFacts& loss) {
                     const auto step = loss.facts.least ? Cell(static_cast<std::int64_t>(loss.facts.least->x)) : Cell();
                     return json_object({{"name", json(loss.name())},
                                         {"last", json(loss.facts.last.y)},
                                         {"best", json(loss.facts.least ? Cell(loss.facts.least->y) : Cell())},
                                         {"step_of_best", json(step)}});
                   })},
       {"results", json_array(trial.all_results(),
                              [&](const RuleResult* result) {
                                const std::size_t i = rule++;
                                return result_json(trial, *result,
                                                   i < trial.tallies.size() ? trial.tallies[i].count() : 0);
                              })},
       {"first_nan",
        first ? json_object({{"tensor", json(first->tensor)}, {"step", json(first->step.value)}}) : "null"},
       {"not_evaluated", json_array(not_evaluated(trial), json)},
       {"problems", json_array(problems, json)},
       {"superseded", json(facts.superseded)},
       {"hparams",
        json_object(mapped(facts.hyperparameters,
                           [](const auto& one) { return std::pair(one.first, HpValue(one.second).json()); }))},
       {"exit", json(facts.exit_code)},
       {"alerts", json_array(facts.alerts, json)}});
}

}  // namespace

std::string brief_markdown(std::span<const TrialReport> trials) { return joined(trials, "\n", trial_markdown); }

std::string brief_json(std::span<const TrialReport> trials) { return json_array(trials, trial_json) + "\n"; }

}  // namespace smd::tool::report
