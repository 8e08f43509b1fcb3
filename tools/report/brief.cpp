// SPDX-License-Identifier: Apache-2.0
// -f md, -f json: what the first screen of the page says.
#include "brief.hpp"

#include "cli/text.hpp"
#include "html.hpp"
#include "rows/cell.hpp"
#include "sections.hpp"
#include "select/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace smd::tool::report {

namespace {

constexpr std::size_t most_shown = 8;   // of each list
constexpr std::size_t most_name = 100;  // bytes, in Markdown
constexpr std::size_t most_text = 160;

/// Text that is no markup, on one line.
std::string markdown_text(std::string_view text, std::size_t most = most_text) {
  const std::string shown = printable(text);
  std::string out;
  for (const char c : shown.substr(0, shown.size() <= most ? most : most - 3)) {
    if (std::string_view("\\`*_{}[]<>()#|&~").find(c) != std::string_view::npos) {
      out += '\\';
    }
    out += c;
  }
  while (shown.size() > most && !is_utf8(out)) {
    out.pop_back();
  }
  return shown.size() <= most ? out : out + "…";
}

/// Appends some of the lines, and how many more there are.
void append_lines(std::string& out, const std::vector<std::string>& lines, std::string_view more) {
  for (std::size_t i = 0; i < std::min(lines.size(), most_shown); ++i) {
    out += lines[i] + "\n";
  }
  if (lines.size() > most_shown) {
    out += fmt::format(fmt::runtime(more), lines.size() - most_shown);
  }
}

std::vector<std::string_view> not_evaluated(const TrialReport& trial) {
  std::vector<std::string_view> names;
  for (const std::vector<RuleResult>* const results : {&trial.results, &trial.passed_over}) {
    for (const RuleResult& result : *results) {
      if (results == &trial.passed_over || result.status == RuleStatus::not_evaluated ||
          result.status == RuleStatus::error) {
        names.push_back(result.name);
      }
    }
  }
  return names;
}

std::string trial_markdown(const TrialReport& trial) {
  const TrialFacts& facts = trial.facts;
  std::string out = fmt::format("## {}\n\n", markdown_text(trial.name, most_name));
  if (trial.unread.empty()) {
    out += fmt::format("{}, {}, {}", facts.layout, facts.status, counted(facts.steps, "step"));
    out += facts.last_step ? fmt::format(", the last is {}\n\n", facts.last_step->value) : "\n\n";
  }
  out += fmt::format("**{}**\n", markdown_text(headline_of(trial).text));
  std::vector<std::string> rules;
  for (const RuleResult& result : trial.results) {
    if (result.status == RuleStatus::issues_found || result.status == RuleStatus::error) {
      const Finding* const first = result.findings.empty() ? nullptr : &result.findings.front();
      rules.push_back(fmt::format("| {} | {} | {} |", markdown_text(result.name, most_name),
                                  first != nullptr && first->step ? std::to_string(first->step->value) : "",
                                  markdown_text(first != nullptr ? first->message : result.message)));
    }
  }
  if (!rules.empty()) {
    out += "\n| rule | first step | |\n|---|---:|---|\n";
    append_lines(out, rules, "| and {} more | | |\n");
  }
  std::vector<std::string> losses;
  for (const LossFacts& loss : losses_of(trial)) {
    losses.push_back(fmt::format("| {} | {} | {} | {} |", markdown_text(loss.name, most_name), short_text(loss.last.y),
                                 loss.best ? short_text(loss.best->y) : "",
                                 loss.best ? fmt::format("{:.0f}", loss.best->x) : ""));
  }
  if (!losses.empty()) {
    out += "\n| loss | last | best | at step |\n|---|---:|---:|---:|\n";
    append_lines(out, losses, "| and {} more | | | |\n");
  }
  if (const auto first = first_not_finite(trial)) {
    out += fmt::format("\nNaN or an infinity came first in {} at step {}.\n", markdown_text(first->tensor, most_name),
                       first->step.value);
  }
  if (const auto names = not_evaluated(trial); !names.empty() && trial.unread.empty()) {
    out += fmt::format("\nNot evaluated: {}.\n", fmt::join(names, ", "));
  }
  if (!facts.problems.empty()) {
    out += fmt::format("\n{}: {}\n", counted(facts.problems.size(), "problem"), markdown_text(facts.problems.front()));
  }
  if (facts.superseded != 0) {
    out += fmt::format("\nA restart replaced {}.\n", counted(facts.superseded, "value"));
  }
  return out;
}

/// Writes JSON.
class Json {
 public:
  void cell(const Cell& value) { append_json_cell(out_, value, 0, NonFinite::string); }
  /// JSON that is there already.
  void raw(std::string_view json) { out_ += json; }
  template <class Items, class Write>
  void array(const Items& items, Write&& write) {
    out_ += '[';
    bool first = true;
    for (const auto& item : items) {
      out_ += std::exchange(first, false) ? "" : ",";
      write(item);
    }
    out_ += ']';
  }
  void key(std::string_view name, bool first = false) {
    out_ += first ? "{" : ",";
    cell(name);
    out_ += ':';
  }
  void value(std::string_view name, const Cell& of, bool first = false) {
    key(name, first);
    cell(of);
  }
  void end() { out_ += '}'; }
  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

void append_result(Json& json, const RuleResult& result, std::size_t findings) {
  const Finding* const first = result.findings.empty() ? nullptr : &result.findings.front();
  const auto of = [&](const auto& get) { return first != nullptr ? Cell(get(*first)) : Cell(); };
  json.value("rule", result.name, true);
  json.value("rule_to_invoke", result.rule);
  json.value("status", to_string(result.status));
  json.value("step", first != nullptr && first->step ? Cell(first->step->value) : Cell());
  json.value("mode", of([](const Finding& one) { return to_string(one.mode); }));
  json.value("mode_step", of([](const Finding& one) { return one.mode_step.value; }));
  json.value("tensor", first != nullptr && first->tensor ? Cell(*first->tensor) : Cell());
  json.value("worker", first != nullptr && first->worker ? Cell(*first->worker) : Cell());
  json.value("check", of([](const Finding& one) { return std::string_view(one.check); }));
  json.value("value", of([](const Finding& one) { return one.value; }));
  json.value("threshold", of([](const Finding& one) { return one.threshold; }));
  json.value("message", first != nullptr ? Cell(first->message) : Cell(result.message));
  json.value("findings", findings);
  json.end();
}

void append_trial(Json& json, const TrialReport& trial) {
  const TrialFacts& facts = trial.facts;
  const bool read = trial.unread.empty();
  json.value("trial", trial.name, true);
  json.value("layout", read ? Cell(facts.layout) : Cell());
  json.value("status", read ? Cell(facts.status) : Cell("unreadable"));
  json.value("steps", facts.steps);
  json.value("last_step", facts.last_step ? Cell(facts.last_step->value) : Cell());
  json.key("losses");
  json.array(losses_of(trial), [&](const LossFacts& loss) {
    json.value("name", loss.name, true);
    json.value("last", loss.last.y);
    json.value("best", loss.best ? Cell(loss.best->y) : Cell());
    json.value("step_of_best", loss.best ? Cell(static_cast<std::int64_t>(loss.best->x)) : Cell());
    json.end();
  });
  json.key("results");
  std::size_t rule = 0;
  json.array(trial.results, [&](const RuleResult& result) {
    append_result(json, result, rule < trial.tallies.size() ? trial.tallies[rule].count() : 0);
    ++rule;
  });
  const auto first = first_not_finite(trial);
  json.key("first_nan");
  if (first) {
    json.value("tensor", first->tensor, true);
    json.value("step", first->step.value);
    json.end();
  } else {
    json.cell(Cell());
  }
  json.key("not_evaluated");
  json.array(not_evaluated(trial), [&](std::string_view name) { json.cell(name); });
  json.key("problems");
  std::vector<std::string> problems = facts.problems;
  if (!read) {
    problems.insert(problems.begin(), trial.unread);
  }
  json.array(problems, [&](const std::string& problem) { json.cell(problem); });
  json.value("superseded", facts.superseded);
  json.key("hparams");
  bool is_first = true;
  for (const auto& [name, value] : facts.hyperparameters) {
    json.key(name, std::exchange(is_first, false));
    json.raw(value);
  }
  json.raw(is_first ? "{}" : "}");
  json.end();
}

}  // namespace

std::vector<LossFacts> losses_of(const TrialReport& trial) {
  std::vector<LossFacts> losses;
  if (trial.histories == nullptr) {
    return losses;
  }
  for (const auto& [name, history] : trial.histories->tensors) {
    for (const auto& [mode, series] : history.modes) {
      const ThinCurve& curve = series.of(Measure::mean);
      if (history.role == Role::loss && !curve.empty()) {
        const bool several = history.modes.size() > 1;
        losses.push_back(
            {several ? fmt::format("{} ({})", name, mode_text(mode)) : name, curve.facts().last, curve.facts().least});
      }
    }
  }
  return losses;
}

std::optional<FirstNotFinite> first_not_finite(const TrialReport& trial) {
  std::optional<FirstNotFinite> first;
  if (trial.histories != nullptr) {
    for (const auto& [name, history] : trial.histories->tensors) {
      if (history.first_not_finite && (!first || *history.first_not_finite < first->step)) {
        first = {name, *history.first_not_finite};
      }
    }
  }
  return first;
}

std::string brief_markdown(std::span<const TrialReport> trials) {
  std::string out;
  for (const TrialReport& trial : trials) {
    out += (out.empty() ? "" : "\n") + trial_markdown(trial);
  }
  return out;
}

std::string brief_json(std::span<const TrialReport> trials) {
  Json json;
  json.array(trials, [&](const TrialReport& trial) { append_trial(json, trial); });
  return json.take() + "\n";
}

}  // namespace smd::tool::report
