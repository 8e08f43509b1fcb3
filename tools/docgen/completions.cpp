// SPDX-License-Identifier: Apache-2.0
#include "docgen.hpp"

#include "cli/mapped.hpp"
#include "cli/text.hpp"

#include <fmt/format.h>

namespace smd::docgen {

namespace {

using tool::ArgumentKind;
using tool::CommandDefinition;
using tool::OptionSpec;
using tool::Repeat;

/// Returns the slots that each shell's template has. `parameters` formats a rule's names, joined by `or_word`, and its
/// parameters.
Slots common_slots(const Definitions& commands, std::string_view or_word, std::string_view parameters) {
  std::vector<std::string> rules;
  Slots slots;
  for (const RuleWords& rule : rule_words()) {
    rules.insert(rules.end(), rule.names.begin(), rule.names.end());
    slots["PARAMETERS"] +=
        fmt::format(fmt::runtime(parameters), fmt::join(rule.names, or_word), fmt::join(rule.parameters, " "));
  }
  slots["RULES"] = fmt::format("{}", fmt::join(rules, " "));
  slots["COMMANDS"] = fmt::format("{}", fmt::join(tool::mapped(commands, &CommandDefinition::name), " "));
  return slots;
}

/// Returns `-s` and `--step`, the short name only if there is one.
std::vector<std::string> names_of(const OptionSpec& spec) {
  std::vector<std::string> names = {"--" + std::string(spec.name)};
  if (spec.short_name != '\0') {
    names.insert(names.begin(), std::string("-") + spec.short_name);
  }
  return names;
}

std::string bash_value_line(const CommandDefinition& definition, const OptionSpec& spec) {
  const std::string prefix = std::string(definition.name) + ":";
  std::string line = fmt::format("    {}{})", prefix, fmt::join(names_of(spec), " | " + prefix));
  if (const std::string_view kind = kind_word(spec); !kind.empty()) {
    line += " kind='" + std::string(kind) + "'";
  }
  if (const auto words = offered(spec, definition); !words.empty()) {
    line += fmt::format(" choices='{}'", fmt::join(words, " "));
  }
  return line + (spec.metavar.starts_with('\'') ? " open=1" : spec.split_commas ? " list=," : "") + " ;;\n";
}

std::string bash_word_line(const CommandDefinition& definition) {
  const std::string words = text::joined(definition.options(), " ", [](const OptionSpec* spec) {
    return fmt::format("{}", fmt::join(names_of(*spec), " "));
  });
  return fmt::format("    {}) echo '{}' ;;\n", definition.name, words);
}

/// Escapes characters with a meaning in an explanation or a message of _arguments.
std::string zsh_explained(std::string_view text) { return with_backslashes(text, "[]:\\"); }

std::string zsh_action(std::string_view kind, bool list, const std::vector<std::string_view>& words) {
  // A leading blank: the function is called with these arguments only.
  return fmt::format(" _smd_value {}{}{}{}", list ? "," : "", kind.empty() ? "text" : kind, words.empty() ? "" : " ",
                     fmt::join(words, " "));
}

std::string zsh_option_lines(const CommandDefinition& definition, const OptionSpec& spec) {
  const std::vector<std::string> names = names_of(spec);
  const bool valued = !spec.metavar.empty();
  const std::string before = spec.repeat == Repeat::adds_up ? "*"
                             : names.size() > 1             ? fmt::format("({})", fmt::join(names, " "))
                                                            : "";
  std::string after = "[" + zsh_explained(spec.help) + "]";
  if (valued) {
    after += ":" + zsh_explained(spec.metavar) + ":" +
             zsh_action(kind_word(spec), spec.split_commas, offered(spec, definition));
  }
  std::string text;
  for (const std::string& name : names) {
    const char* const sign = !valued ? "" : name.starts_with("--") ? "=" : "+";
    text.append("        ")
        .append(in_quotes(fmt::format("{}{}{}{}", before, name, sign, after), "'\\''"))
        .append(" \\\n");
  }
  return text;
}

std::string zsh_command_case(const CommandDefinition& definition) {
  std::vector<std::string> valued;
  std::string lines;
  for (const OptionSpec* spec : definition.options()) {
    for (const std::string& name : spec->metavar.empty() ? std::vector<std::string>() : names_of(*spec)) {
      valued.push_back(name.substr(name.find_first_not_of('-')));
    }
    lines += zsh_option_lines(definition, *spec);
  }
  std::string text = fmt::format("    {})\n      smd_valued=({})\n      _arguments -s -S \\\n{}", definition.name,
                                 fmt::join(valued, " "), lines);
  for (std::size_t i = 0; i < definition.operands.size(); ++i) {
    const tool::OperandSpec& operand = definition.operands[i];
    text += "        '" + (operand.repeats ? "*" : std::to_string(i + 1)) + ":" + zsh_explained(operand.metavar) + ":" +
            zsh_action(kind_word(operand.kind), false, {}) + "'" +
            (i + 1 < definition.operands.size() ? " \\\n" : "\n");
  }
  return text + "      ;;\n";
}

std::string fish_option_line(const CommandDefinition& definition, const OptionSpec& spec) {
  const std::string letter = spec.short_name == '\0' ? "" : std::string(" -s ") + spec.short_name;
  const std::string line =
      fmt::format("complete -c {}{} -l {} -d {}", definition.name, letter, spec.name, in_quotes(spec.help, "\\'"));
  if (spec.metavar.empty()) {
    return line + "\n";
  }
  if (spec.kind == ArgumentKind::file) {
    return line + " -r -F\n";
  }
  const std::string_view kind = kind_word(spec);
  std::vector<std::string_view> words = offered(spec, definition);
  words.insert(words.begin(), kind);
  return line + (kind.empty() ? " -x\n"
                              : fmt::format(" -x -a '(__smd_values {}{})'\n", spec.split_commas ? "," : "",
                                            fmt::join(words, " ")));
}

}  // namespace

std::string bash_completion(const Definitions& commands, std::string_view page) {
  Slots slots = common_slots(commands, " | ", "    {}) printf '%s\\n' {} ;;\n");
  for (const CommandDefinition* definition : commands) {
    for (const OptionSpec* spec : definition->options()) {
      if (!spec->metavar.empty()) {
        slots["OPTIONS"] += bash_value_line(*definition, *spec);
      }
    }
    slots["WORDS"] += bash_word_line(*definition);
    for (std::size_t i = 0; i < definition->operands.size(); ++i) {
      const bool repeats = definition->operands[i].repeats;
      slots["OPERANDS"] += "    " + std::string(definition->name) + ":" + (repeats ? "*" : std::to_string(i)) +
                           ") kind=" + std::string(kind_word(definition->operands[i].kind)) + " ;;\n";
    }
  }
  return filled(page, slots);
}

std::string zsh_completion(const Definitions& commands, std::string_view page) {
  Slots slots = common_slots(commands, " | ", "    {}) print -l -- {} ;;\n");
  slots["COMMAND_CASES"] = text::joined(commands, "", [](const auto* one) { return zsh_command_case(*one); });
  return filled(page, slots);
}

std::string fish_functions(const Definitions& commands, std::string_view page) {
  Slots slots = common_slots(commands, " ", "        case {}\n            printf '%s\\n' {}\n");
  for (const CommandDefinition* definition : commands) {
    for (const OptionSpec* spec : definition->options()) {
      const std::string command = (slots["VALUED"].empty() ? "" : " ") + std::string(definition->name) + "/";
      if (!spec->metavar.empty()) {
        slots["VALUED"] += command + std::string(spec->name);
        slots["VALUED"] += spec->short_name == '\0' ? "" : " " + std::string(definition->name) + "/" + spec->short_name;
      }
    }
  }
  return filled(page, slots);
}

std::string fish_completion(const CommandDefinition& definition) {
  std::string text = "# Generated by tools/docgen: do not edit. SPDX-License-Identifier: Apache-2.0\n";
  const std::string kinds = text::joined(
      definition.operands, "", [](const auto& operand) { return " " + std::string(kind_word(operand.kind)); });
  text += "complete -c " + std::string(definition.name) + " -f -a '(__smd_values operand" + kinds + ")'\n";
  for (const OptionSpec* spec : definition.options()) {
    text += fish_option_line(definition, *spec);
  }
  return text;
}

}  // namespace smd::docgen
