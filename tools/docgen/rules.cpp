// SPDX-License-Identifier: Apache-2.0
#include "docgen.hpp"

#include "cli/mapped.hpp"

#include <smd/rule_registry.hpp>

#include <fmt/format.h>
#include <boost/algorithm/string/case_conv.hpp>

#include <utility>

namespace smd::docgen {

namespace {

std::vector<RuleDescription> builtin_rules() {
  std::vector<RuleDescription> rules = rule_descriptions();
  std::erase_if(rules, [](const RuleDescription& rule) { return !rule.plugin.empty(); });
  return rules;
}

/// Returns `Float, default 10.0, >= 1`.
std::string facts_of(const ParameterSpec& parameter) {
  std::string text(to_string(parameter.type));
  if (parameter.required) {
    text += ", required";
  } else if (parameter.default_text) {
    text += ", default " + *parameter.default_text;
  }
  const std::string range = range_text(parameter);
  return range.empty() ? text : text + ", " + range;
}

/// Returns what a rule reads by default, and for which models it is useful.
std::string scope_of(const RuleDescription& rule) {
  std::string text = "Alias " + rule.alias + ". For " + rule.frameworks + ".";
  if (!rule.collections.empty()) {
    text += rule.collections.size() == 1 ? " Collection " : " Collections ";
    text += fmt::format("{}.", fmt::join(rule.collections, ", "));
  }
  return rule.other_trials > 0 ? text + " Needs another trial." : text;
}

/// Returns a text for a cell of a Markdown table, or for running text.
std::string markdown(std::string_view text) { return with_backslashes(text, "|<*_"); }

}  // namespace

std::vector<RuleWords> rule_words() {
  std::vector<RuleWords> words;
  for (const RuleDescription& rule : builtin_rules()) {
    RuleWords word = {{rule.name, rule.alias}, tool::mapped(rule.parameters, &ParameterSpec::name)};
    for (const char* const common : {"start_step", "end_step"}) {
      tool::add_once(word.parameters, common);
    }
    words.push_back(std::move(word));
  }
  return words;
}

std::string rule_sections(const Sections& choices) {
  Roff page;
  for (const RuleDescription& rule : builtin_rules()) {
    page.macro(".Ss " + roff_word(rule.name));
    std::string text = as_sentence(rule.summary) + " " + scope_of(rule) + "\n\nCondition: ";
    tool::append_replaced(text, rule.condition, {{'\n', "\n\n"}});  // each line is a paragraph
    page.prose(text);
    if (!rule.parameters.empty()) {
      page.list(rule.parameters, [&](const ParameterSpec& parameter) {
        page.macro(".It Cm " + roff_word(parameter.name) + " Pq " + roff_word(facts_of(parameter)));
        page.prose(as_sentence(parameter.help));
      });
    }
    if (const std::string_view choice = text_of(choices, rule.name); !choice.empty()) {
      page.macro(".Pp");
      page.prose(choice);
    }
  }
  return page.text();
}

std::string rule_chapters(const Sections& choices) {
  const std::vector<RuleDescription> rules = builtin_rules();
  std::string text = "| Rule | Alias | For | Triggered when |\n|---|---|---|---|\n";
  for (const RuleDescription& rule : rules) {
    text += "| [" + rule.name + "](#" + boost::to_lower_copy(rule.name) + ") | `" + rule.alias + "` | " +
            markdown(rule.frameworks) + " | " + markdown(rule.summary) + " |\n";
  }
  for (const RuleDescription& rule : rules) {
    text += "\n### " + rule.name + "\n\n" + markdown(as_sentence(rule.summary) + " " + scope_of(rule)) + "\n\n";
    text += "```\n" + rule.condition + "\n```\n\n";
    if (!rule.parameters.empty()) {
      text += "| Parameter | | |\n|---|---|---|\n";
      for (const ParameterSpec& parameter : rule.parameters) {
        text +=
            "| `" + parameter.name + "` | " + markdown(facts_of(parameter)) + " | " + markdown(parameter.help) + " |\n";
      }
    }
    if (const std::string_view choice = text_of(choices, rule.name); !choice.empty()) {
      text += "\n" + markdown(choice) + "\n";
    }
  }
  return text;
}

}  // namespace smd::docgen
