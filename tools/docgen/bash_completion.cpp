// SPDX-License-Identifier: Apache-2.0
#include "completions.hpp"
#include "rules.hpp"
#include "slots.hpp"

namespace smd::docgen {

namespace {

using tool::CommandDefinition;
using tool::OptionSpec;

std::string value_line(const CommandDefinition& definition, const OptionSpec& spec) {
  const std::string prefix = std::string(definition.name) + ":";
  std::string line = "    ";
  if (spec.short_name != '\0') {
    line += prefix + "-" + spec.short_name + " | ";
  }
  line += prefix + "--" + std::string(spec.name) + ")";
  if (const std::string_view kind = kind_word(spec); !kind.empty()) {
    line += " kind='" + std::string(kind) + "'";
  }
  if (const auto words = offered(spec, definition); !words.empty()) {
    line += " choices='" + joined(words, " ") + "'";
  }
  return line + (spec.split_commas ? " list=, ;;\n" : " ;;\n");
}

std::string word_lines(const CommandDefinition& definition) {
  std::string text = "    " + std::string(definition.name) + ") echo '";
  bool first = true;
  for (const OptionSpec* spec : definition.options()) {
    if (spec->hidden) {
      continue;
    }
    text += first ? "" : " ";
    first = false;
    if (spec->short_name != '\0') {
      text += std::string("-") + spec->short_name + " ";
    }
    text += "--" + std::string(spec->name);
  }
  return text + "' ;;\n";
}

}  // namespace

std::string bash_completion(const Definitions& commands, std::string_view page) {
  Slots slots;
  std::vector<std::string> names;
  for (const CommandDefinition* definition : commands) {
    names.emplace_back(definition->name);
    for (const OptionSpec* spec : definition->options()) {
      if (!spec->metavar.empty()) {
        slots["OPTIONS"] += value_line(*definition, *spec);
      }
    }
    slots["WORDS"] += word_lines(*definition);
    for (std::size_t i = 0; i < definition->operands.size(); ++i) {
      const bool repeats = definition->operands[i].repeats;
      slots["OPERANDS"] += "    " + std::string(definition->name) + ":" + (repeats ? "*" : std::to_string(i)) +
                           ") kind=" + std::string(kind_word(definition->operands[i].kind)) + " ;;\n";
    }
  }
  std::vector<std::string> rules;
  for (const RuleWords& rule : rule_words()) {
    rules.insert(rules.end(), rule.names.begin(), rule.names.end());
    slots["PARAMETERS"] +=
        "    " + joined(rule.names, " | ") + ") printf '%s\\n' " + joined(rule.parameters, " ") + " ;;\n";
  }
  slots.try_emplace("PARAMETERS");
  slots["RULES"] = joined(rules, " ");
  slots["COMMANDS"] = joined(names, " ");
  return filled(page, slots);
}

}  // namespace smd::docgen
