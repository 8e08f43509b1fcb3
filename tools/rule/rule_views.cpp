// SPDX-License-Identifier: Apache-2.0
#include "rule_views.hpp"

#include <smd/hook_needs.hpp>
#include <smd/rule_registry.hpp>

#include "cli/mapped.hpp"
#include "cli/terminal.hpp"
#include "cli/text.hpp"
#include "record.hpp"
#include "report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

namespace smd::tool::rule {

namespace {

constexpr std::array<Column, 9> reading_columns = {{{.name = "rule"},
                                                    {.name = "tensor"},
                                                    {.name = "reads"},
                                                    {.name = "from"},
                                                    {.name = "steps", .align = Align::right},
                                                    {.name = "first_step", .align = Align::right},
                                                    {.name = "last_step", .align = Align::right},
                                                    {.name = "workers"},
                                                    {.name = "pairs"}}};
constexpr std::array<Column, 6> list_columns = {{{.name = "rule", .for_trial = true},
                                                 {.name = "alias"},
                                                 {.name = "frameworks"},
                                                 {.name = "collections", .in_text = false},
                                                 {.name = "plugin", .in_text = false},
                                                 {.name = "summary", .prose = true}}};
constexpr std::array<Column, 7> parameter_columns = {{{.name = "rule", .for_trial = true},
                                                      {.name = "parameter"},
                                                      {.name = "type"},
                                                      {.name = "default"},
                                                      {.name = "required"},
                                                      {.name = "range"},
                                                      {.name = "help", .prose = true}}};
constexpr std::array<Column, 7> check_columns = {{{.name = "rule", .for_trial = true},
                                                  {.name = "rule_to_invoke"},
                                                  {.name = "file"},
                                                  {.name = "position"},
                                                  {.name = "kind"},
                                                  {.name = "parameter"},
                                                  {.name = "message", .prose = true}}};

/// Prints rows about no trial, which `fill` gives to a writer.
template <class Fill>
void print_rows(const RuleCommandOptions& options, std::span<const Column> columns, Diagnostics& messages,
                const Fill& fill) {
  OutputFile out = options.output.open();
  RowWriter rows(out, options.output, columns, false, messages);
  fill(rows);
  rows.finish();
  out.close();
}

std::string facts_of(const ParameterSpec& spec) {
  std::string text(to_string(spec.type));
  append_part(text, range_text(spec));
  text += spec.required ? ", required" : ", default " + (spec.default_text ? *spec.default_text : "None");
  return text;
}

void append_parameters(std::string& text, const std::vector<ParameterSpec>& parameters, std::size_t width) {
  for (const ParameterSpec& spec : parameters) {
    text += "  " + spec.name + "  (" + facts_of(spec) + ")\n";
    std::string help = spec.help;
    if (!spec.other_name.empty()) {
      append_part(help, "also accepted as " + spec.other_name, "; ");
    }
    text += help.empty() ? "" : wrapped(help, width, 6);
  }
}

std::string description_text(const RuleDescription& rule, std::size_t width) {
  std::string text = rule.name + (rule.alias.empty() ? "" : " (" + rule.alias + ")") + "\n";
  text += wrapped(rule.summary, width, 2) + "\nCondition:\n" + wrapped(rule.condition, width, 2);
  std::string facts = rule.frameworks.empty() ? "" : "  For: " + rule.frameworks + "\n";
  if (!rule.collections.empty()) {
    facts += wrapped(fmt::format("Looks at: {} (default)", fmt::join(rule.collections, ", ")), width, 2);
  }
  facts += rule.plugin.empty() ? "" : "  Plug-in: " + rule.plugin + "\n";
  text += facts.empty() ? "" : "\n" + facts;
  text += "\nParameters:\n";
  append_parameters(text, rule.parameters, width);
  text += rule.parameters.empty() ? "  none of its own\n" : "";
  std::vector<ParameterSpec> common = common_parameters();
  std::erase_if(common, [own = mapped(rule.parameters, &ParameterSpec::name)](const ParameterSpec& spec) {
    return contains(own, spec.name) || (spec.name != "start_step" && spec.name != "end_step");
  });
  if (!common.empty()) {
    text += "\nOf every rule:\n";
    append_parameters(text, common, width);
  }
  return text;
}

/// The pairs that a tensor is in.
std::vector<std::string> pairs_of(const RuleResult& result, const std::string& tensor) {
  std::vector<TensorPair> pairs;
  std::ranges::copy_if(result.pairs, std::back_inserter(pairs),
                       [&](const TensorPair& pair) { return pair.training == tensor || pair.validation == tensor; });
  return pair_texts(pairs);
}

/// Rule, trial, tensor, and what is read of it.
using Key = std::tuple<std::size_t, std::size_t, std::string, std::string>;
struct Reading {
  std::set<std::int64_t> steps;
  std::set<std::string, std::less<>> workers;
};

}  // namespace

std::span<const Column> explain_columns() noexcept { return reading_columns; }

std::vector<ColumnTable> column_tables() {
  std::vector<ColumnTable> tables = {column_table("", record_columns()), column_table("--explain", reading_columns),
                                     column_table("--list", list_columns),
                                     column_table("--describe", parameter_columns),
                                     column_table("--check-config", check_columns)};
  for (ColumnTable& table : tables) {
    if (!table.when.empty() && table.when != "--explain") {
      std::erase(table.names, "trial");  // of no trial
    }
  }
  return tables;
}

void explain(Evaluator& evaluator, std::string_view trial, RowWriter& rows, Diagnostics& messages) {
  std::map<Key, Reading> readings;
  evaluator.plan([&](const PlannedRead& read) {
    Reading& reading = readings[{read.rule, read.trial, std::string(read.tensor), read.what}];
    reading.steps.insert(read.read_step.value);
    if (!reading.workers.contains(read.worker)) {
      reading.workers.emplace(read.worker);
    }
  });
  rows.set_trial(trial);
  const std::vector<RuleResult>& rules = evaluator.results();
  for (std::size_t rule = 0; rule < rules.size(); ++rule) {
    if (rules[rule].error_kind) {
      continue;
    }
    auto reading = readings.lower_bound({rule, 0, {}, {}});
    if (reading == readings.end() || std::get<0>(reading->first) != rule) {
      rows.row({Cell(rules[rule].name), Cell(), Cell(), Cell(), Cell(0), Cell(), Cell(), Cell(), Cell()});
      messages.warning(std::string(trial) + ": " + rules[rule].name + " would read nothing");
      continue;
    }
    for (; reading != readings.end() && std::get<0>(reading->first) == rule; ++reading) {
      const auto& [number, from, tensor, what] = reading->first;
      const std::vector<std::string> workers(reading->second.workers.begin(), reading->second.workers.end());
      const std::set<std::int64_t>& steps = reading->second.steps;
      const std::vector<std::string> pairs = pairs_of(rules[rule], tensor);
      rows.row({rules[rule].name, or_missing(tensor), what, from == 0 ? "trial" : "other", steps.size(), *steps.begin(),
                *steps.rbegin(), ListCell{workers}, ListCell{pairs}});
    }
  }
}

void list_rules(const RuleCommandOptions& options, Diagnostics& messages) {
  print_rows(options, list_columns, messages, [](RowWriter& rows) {
    for (const RuleDescription& rule : rule_descriptions()) {
      rows.row({Cell(rule.name), or_missing(rule.alias), or_missing(rule.frameworks), Cell(ListCell{rule.collections}),
                or_missing(rule.plugin), Cell(rule.summary)});
    }
  });
}

void describe(const RuleCommandOptions& options, Diagnostics& messages) {
  const RuleDescription rule = describe_rule(options.described);
  const std::string& format = options.output.format;
  if (!options.output.asks_for_rows() && (!options.output.format_given || format == "text" || format == "table")) {
    OutputFile out = options.output.open();
    out.write(description_text(rule, terminal_width(STDOUT_FILENO)));
    out.close();
    return;
  }
  print_rows(options, parameter_columns, messages, [&](RowWriter& rows) {
    for (const ParameterSpec& spec : rule.parameters) {
      const std::string range = range_text(spec);
      rows.row(
          {rule.name, spec.name, to_string(spec.type), spec.default_text, spec.required, or_missing(range), spec.help});
    }
  });
}

void hook_config(const std::vector<RuleRequest>& requests, const RuleCommandOptions& options) {
  HookConfig job;
  std::vector<RuleConfiguration> rules;
  for (const RuleRequest& request : requests) {
    if (!request.error || evaluated_elsewhere(request.error->kind)) {
      rules.push_back(request.configuration);
      job = request.job_hook.value_or(job);
    }
  }
  if (rules.empty()) {
    return;  // their errors were reported
  }
  const std::string json = hook_config_for(rules, job).to_json() + "\n";
  OutputFile out = options.output.open();
  out.write(json);
  out.close();
}

void check_config(const std::vector<RuleRequest>& requests, const RuleCommandOptions& options, Diagnostics& messages) {
  print_rows(options, check_columns, messages, [&](RowWriter& rows) {
    for (const RuleRequest& request : requests) {
      const RuleConfiguration& configuration = request.configuration;
      const auto& error = request.error;
      rows.row({Cell(request.name()), or_missing(configuration.rule_to_invoke), or_missing(request.file),
                or_missing(configuration.position), error ? Cell(to_string(error->kind)) : Cell(),
                error ? or_missing(error->parameter) : Cell(), error ? Cell(error->what()) : Cell("valid")});
    }
  });
}

}  // namespace smd::tool::rule
