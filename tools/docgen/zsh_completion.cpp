// SPDX-License-Identifier: Apache-2.0
#include "completions.hpp"
#include "rules.hpp"
#include "slots.hpp"

#include <algorithm>

namespace smd::docgen {

namespace {

using tool::CommandDefinition;
using tool::OptionSpec;
using tool::Repeat;

/// Escapes characters with a meaning in an explanation or a message of _arguments.
std::string explained(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') {
      out += '\\';
    }
    out += c;
  }
  return out;
}

std::string action(std::string_view kind, bool list, std::span<const std::string_view> words) {
  // A leading blank: the function is called with these arguments only.
  std::string text = std::string(" _smd_value ") + (list ? "," : "") + std::string(kind.empty() ? "text" : kind);
  for (const std::string_view word : words) {
    text += " " + std::string(word);
  }
  return text;
}

std::string option_lines(const CommandDefinition& definition, const OptionSpec& spec) {
  const std::string long_name = "--" + std::string(spec.name);
  const std::string short_name = spec.short_name == '\0' ? "" : std::string("-") + spec.short_name;
  const bool valued = !spec.metavar.empty();
  std::string before;
  if (spec.repeat == Repeat::adds_up) {
    before = "*";
  } else if (!short_name.empty()) {
    before = "(" + short_name + " " + long_name + ")";
  }
  std::string after = "[" + explained(spec.help) + "]";
  if (valued) {
    after +=
        ":" + explained(spec.metavar) + ":" + action(kind_word(spec), spec.split_commas, offered(spec, definition));
  }
  std::string text;
  if (!short_name.empty()) {
    text += "        " + in_quotes(before + short_name + (valued ? "+" : "") + after, "'\\''") + " \\\n";
  }
  return text + "        " + in_quotes(before + long_name + (valued ? "=" : "") + after, "'\\''") + " \\\n";
}

std::string command_case(const CommandDefinition& definition) {
  std::string valued;
  std::string lines;
  for (const OptionSpec* spec : definition.options()) {
    if (!spec->metavar.empty()) {
      valued += spec->short_name == '\0' ? std::string() : std::string(" ") + spec->short_name;
      valued += " " + std::string(spec->name);
    }
    if (!spec->hidden) {
      lines += option_lines(definition, *spec);
    }
  }
  std::string text = "    " + std::string(definition.name) + ")\n      smd_valued=(" +
                     valued.substr(std::min<std::size_t>(1, valued.size())) + ")\n      _arguments -s -S \\\n" + lines;
  for (std::size_t i = 0; i < definition.operands.size(); ++i) {
    const tool::OperandSpec& operand = definition.operands[i];
    text += "        '" + (operand.repeats ? "*" : std::to_string(i + 1)) + ":" + explained(operand.metavar) + ":" +
            action(kind_word(operand.kind), false, {}) + "'" + (i + 1 < definition.operands.size() ? " \\\n" : "\n");
  }
  return text + "      ;;\n";
}

}  // namespace

std::string zsh_completion(const Definitions& commands, std::string_view page) {
  Slots slots;
  std::vector<std::string> names;
  for (const CommandDefinition* definition : commands) {
    names.emplace_back(definition->name);
    slots["COMMAND_CASES"] += command_case(*definition);
  }
  std::vector<std::string> rules;
  for (const RuleWords& rule : rule_words()) {
    rules.insert(rules.end(), rule.names.begin(), rule.names.end());
    slots["PARAMETERS"] +=
        "    " + joined(rule.names, " | ") + ") print -l -- " + joined(rule.parameters, " ") + " ;;\n";
  }
  slots.try_emplace("PARAMETERS");
  slots["RULES"] = joined(rules, " ");
  slots["COMMANDS"] = joined(names, " ");
  return filled(page, slots);
}

}  // namespace smd::docgen
