// SPDX-License-Identifier: Apache-2.0
// The results of the rules, the worst first.

#include "cli/escape.hpp"
#include "cli/mapped.hpp"
#include "cli/text.hpp"
#include "html.hpp"
#include "requests/requests.hpp"
#include "sections.hpp"
#include "select/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace smd::tool::report {

namespace {

// A class of the page's style, and the place among the results.
struct Look {
  std::string_view name;
  int place;
};

Look look_of(const TrialReport& trial, std::size_t result) {
  switch (trial.results[result].status) {
    case RuleStatus::issues_found:
      return is_grave(trial, result) ? Look{"bad", 0} : Look{"look", 1};
    case RuleStatus::error:
      return {"unknown", 2};
    case RuleStatus::in_progress:
      return {"unknown", 3};
    case RuleStatus::no_issues_found:
      return {"good", 4};
    case RuleStatus::not_evaluated:
      break;
  }
  return {"unknown", 5};
}

std::string place_of(const Finding& finding) {
  return finding.step ? full_step_text(*finding.step, finding.mode, finding.mode_step) : std::string();
}

// Whether a parameter differs from its default.
bool is_given(const RuleResult& result, const std::string& name, const std::string& value) {
  const auto is_default = [&](const ParameterSpec& parameter) {
    return parameter.name == name && parameter.default_text == value;
  };
  const std::optional<RuleDescription> rule = rule_named(result.rule);  // an unknown one has no parameters in effect
  return rule && std::ranges::none_of(rule->parameters, is_default);
}

std::string rule_command(const PageContext& page, const TrialReport& trial, const RuleResult& result) {
  std::string command = fmt::format("smd-rule {}{} -r {}", shell_word(trial.name), page.selection,
                                    shell_word(result.rule.empty() ? result.name : result.rule));
  for (const auto& [name, value] : result.params) {
    if (value && is_given(result, name, *value)) {
      command += fmt::format(" -p {}", shell_word(fmt::format("{}={}", name, *value)));
    }
  }
  return command + " -k --findings";
}

std::string findings_html(const PageContext& page, const TrialReport& trial, const RuleResult& result,
                          std::size_t count) {
  std::vector<std::vector<HtmlCell>> rows;
  for (const Finding& finding : result.findings) {
    rows.push_back({{place_of(finding), true, finding.step ? std::to_string(finding.step->value) : std::string()},
                    {page.figures.linked_name(finding.tensor.value_or(std::string()))},
                    {name_html(finding.worker.value_or(std::string()))},
                    {short_text(finding.value), true},
                    {std::isnan(finding.value) ? std::string() : xml(finding.relation)},
                    {short_text(finding.threshold), true},
                    {name_html(shown_message(finding))}});
  }
  const std::vector<std::string> header = {"step", "tensor", "worker", "value", "is", "threshold", "message"};
  std::string out = table_html(fmt::format("findings of {}", result.name), header, rows);
  if (count > rows.size()) {
    out += fmt::format("<p class=\"remark\">The first {} of {}.</p>\n", rows.size(), grouped(count));
  }
  return out + command_html(rule_command(page, trial, result));
}

std::string steps_text(const RuleResult& result) {
  if (!result.first_step || !result.last_step) {
    return {};
  }
  return fmt::format(" {}, {} to {}.", counted(result.steps_evaluated, "step"), result.first_step->value,
                     result.last_step->value);
}

std::string warnings_html(const RuleResult& result) {
  return joined(result.warnings, "", [](const std::string& warning) {
    return fmt::format("<p class=\"remark\">{}</p>\n", name_html(warning));
  });
}

// What a rule found, or why it could not be evaluated.
std::string result_html(const PageContext& page, const TrialReport& trial, std::size_t rule,
                        const std::string& anchor) {
  const RuleResult& result = trial.results[rule];
  const bool triggered = !result.findings.empty();
  const std::string said = triggered ? shown_message(result.findings.front()) : result.message;
  const std::string at = triggered ? place_of(result.findings.front()) : std::string();
  std::string out = fmt::format(
      "<div class=\"rule {}\" id=\"{}\">\n<p><strong>{}</strong> {}{}{}{}</p>\n{}", look_of(trial, rule).name, anchor,
      name_html(result.name), xml(to_string(result.status)), at.empty() ? "" : fmt::format(" at step {}", at),
      said.empty() ? "." : fmt::format(": {}.", name_html(said)), steps_text(result), warnings_html(result));
  if (triggered) {
    const std::size_t count = trial.tallies[rule].count();
    out += details_html(fmt::format("{} {}", grouped(count), count == 1 ? "finding" : "findings"),
                        findings_html(page, trial, result, count));
  } else {
    out += details_html("Command", command_html(rule_command(page, trial, result)));
  }
  return out + "</div>\n";
}

// One line, with the rest one click away.
std::string line_html(const PageContext& page, const TrialReport& trial, std::size_t rule, const std::string& anchor) {
  const RuleResult& result = trial.results[rule];
  const std::string line =
      fmt::format("<strong>{}</strong> {}.{}{}", name_html(result.name), xml(to_string(result.status)),
                  steps_text(result), result.warnings.empty() ? "" : " With a warning.");
  const std::string said =
      result.message.empty() ? std::string() : fmt::format("<p>{}</p>\n", name_html(result.message));
  return fmt::format(
      "<li class=\"rule {}\" id=\"{}\">{}</li>\n", look_of(trial, rule).name, anchor,
      details_html(line, said + warnings_html(result) + command_html(rule_command(page, trial, result))));
}

std::string passed_over_html(const TrialReport& trial) {
  const std::vector<std::string> items = mapped(trial.passed_over, [](const RuleResult& result) {
    return fmt::format("<strong>{}</strong>: {}", name_html(result.name), name_html(result.message));
  });
  return items.empty()
             ? std::string()
             : details_html(fmt::format("{} built-in rules had nothing to evaluate", items.size()), list_html(items));
}

}  // namespace

std::string rules_section(const PageContext& page) {
  std::string out;
  std::string quiet;  // trials of which no rule found anything
  for (std::size_t i = 0; i < page.trials.size(); ++i) {
    const TrialReport& trial = page.trials[i];
    std::vector<std::size_t> order(trial.results.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t rule) { return look_of(trial, rule).place; });
    std::string lines;
    std::string found;
    std::set<std::string_view> told;  // A damaged file stops many rules for one reason, which is shown once.
    for (const std::size_t rule : order) {
      const RuleResult& result = trial.results[rule];
      const bool in_full = !result.findings.empty() || result.status == RuleStatus::issues_found ||
                           (result.status == RuleStatus::error && told.insert(result.message).second);
      (in_full ? found : lines) += (in_full ? result_html : line_html)(page, trial, rule, rule_anchor(i, rule));
    }
    lines = (lines.empty() ? lines : fmt::format("<ul class=\"lines\">\n{}</ul>\n", lines)) + passed_over_html(trial);
    if (page.trials.size() == 1) {
      out += found + lines;
    } else if (!found.empty()) {
      out += fmt::format("<h3>{}</h3>\n{}{}", name_html(trial.label), found, details_html("The other rules", lines));
    } else if (trial.unread.empty()) {
      quiet += details_html(name_html(trial.label), lines);
    }
  }
  if (!quiet.empty()) {
    out += fmt::format("<p>Nothing was found in:</p>\n{}", quiet);
  }
  return out;
}

}  // namespace smd::tool::report
