// SPDX-License-Identifier: Apache-2.0
// What the trial is, and its workers.
#include "cli/escape.hpp"
#include "cli/text.hpp"
#include "html.hpp"
#include "sections.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace smd::tool::report {

namespace {

constexpr std::size_t most_named = 12;

std::vector<std::string> names_html(const std::vector<std::string>& names) {
  std::vector<std::string> all(names.size());
  std::ranges::transform(names, all.begin(), name_html);
  return all;
}

std::string span_text(const TrialFacts& facts) {
  if (!facts.first_step) {
    return "none";
  }
  return fmt::format("{}, from {} to {}", grouped(facts.steps), facts.first_step->value, facts.last_step->value);
}

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
  put("steps", span_text(facts));
  if (facts.last_complete != facts.last_step && facts.last_complete) {
    put("last complete step", std::to_string(facts.last_complete->value));
  }
  put("modes", first_of(names_html(facts.modes), most_named));
  put("tensors", grouped(facts.tensors));
  put("workers", facts.workers.size() == 1 ? name_html(facts.workers.begin()->first) : grouped(facts.workers.size()));
  put("collections", first_of(names_html(facts.collections), most_named));
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
  std::vector<std::vector<HtmlCell>> rows;
  for (const auto& [name, value] : facts.hyperparameters) {
    rows.push_back({{name_html(name)}, {name_html(value)}});
  }
  const std::vector<std::string> header = {"hyperparameter", "value"};
  return details_html(fmt::format("{} hyperparameters", rows.size()), table_html("hyperparameters", header, rows));
}

std::string folded_list_html(const std::vector<std::string>& lines, std::string_view noun) {
  return lines.empty() ? std::string() : details_html(counted(lines.size(), noun), list_html(names_html(lines)));
}

}  // namespace

std::string trial_section(const PageContext& page) {
  std::string out;
  for (const TrialReport& trial : page.trials) {
    const std::string facts = trial.unread.empty() ? facts_html(trial) + hyperparameters_html(trial.facts) +
                                                         folded_list_html(trial.facts.alerts, "alert") +
                                                         folded_list_html(trial.facts.problems, "problem")
                                                   : fmt::format("<p>{}</p>\n", name_html(trial.unread));
    out += page.trials.size() == 1 ? facts : details_html(name_html(trial.label), facts);
  }
  return section_html("trial", page.trials.size() > 1 ? "What they are" : "What it is", out);
}

}  // namespace smd::tool::report
