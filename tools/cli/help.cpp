// SPDX-License-Identifier: Apache-2.0
#include <smd/version.hpp>

#include "cli/command_line.hpp"
#include "cli/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace smd::tool {

namespace {

constexpr std::size_t help_column = 26;
// The least width that keeps sentences readable beside a column; with less room, they go below.
constexpr std::size_t least_beside = 20;
constexpr std::size_t names_column = 16;
constexpr std::size_t option_below = 10;
constexpr std::size_t example_below = 6;

std::string heading(const OptionSpec& spec) {
  const std::string letter = spec.short_name == '\0' ? "      " : fmt::format("  -{}, ", spec.short_name);
  return fmt::format("{}--{}{}{}", letter, spec.name, spec.metavar.empty() ? "" : " ", spec.metavar);
}

// Appends the left part, and the rest wrapped in the column beside it, or below if the left part is too wide.
void append_entry(std::string& out, std::string_view left, std::string_view right, std::size_t column,
                  std::size_t width) {
  out += left;
  std::string text = wrapped(right, width, column);
  if (left.size() + 2 <= column) {
    text.erase(0, left.size());
  } else {
    out += '\n';
  }
  out += text;
}

// Usage, the sentence, and the examples.
std::string beginning(const CommandDefinition& definition, std::size_t width) {
  constexpr std::string_view usage = "Usage:";
  std::string out =
      wrapped(std::string(definition.name) + " " + std::string(definition.synopsis), width, usage.size() + 1);
  out.replace(0, usage.size(), usage);
  out += wrapped(definition.summary, width, 0);
  if (!definition.operands.empty() && definition.operands.front().here) {
    out += wrapped("Without " + std::string(definition.operands.front().metavar) + ", the current folder is read.",
                   width, 0);
  }
  out += "\nExamples:\n";
  std::size_t longest = 0;
  for (const Example& example : definition.examples) {
    longest = std::max(longest, example.command.size());
  }
  // Use a column if it leaves room for a few words beside the longest command; else the words go below it.
  const std::size_t column = longest + 28 <= width ? longest + 4 : example_below;
  for (const Example& example : definition.examples) {
    append_entry(out, "  " + std::string(example.command), example.purpose, column, width);
  }
  return out;
}

}  // namespace

std::string short_help_text(const CommandDefinition& definition, std::size_t width) {
  std::string out = beginning(definition, width) + "\nOptions:\n";
  for (const OptionGroup& group : definition.groups()) {
    std::string names;
    for (const OptionSpec* spec : group.options) {
      names += names.empty() ? "" : " ";
      names += spec->short_name == '\0' ? "" : std::string("-") + spec->short_name + ",";
      names += "--" + std::string(spec->name);
    }
    append_entry(out, "  " + std::string(group.title), names, names_column + least_beside <= width ? names_column : 4,
                 width);
  }
  return out + "\n" + wrapped(fmt::format("{0} --help explains them; manual page: {0}(1)", definition.name), width, 0);
}

std::string help_text(const CommandDefinition& definition, std::size_t width) {
  std::string out = beginning(definition, width);
  for (const OptionGroup& group : definition.groups()) {
    out += "\n" + std::string(group.title) + ":\n";
    for (const OptionSpec* spec : group.options) {
      std::string text(spec->help);
      append_part(text, definition.words_beside(text, *spec), ": ");
      append_entry(out, heading(*spec), text, help_column + least_beside <= width ? help_column : option_below, width);
    }
  }
  out += "\nExit status:\n";
  for (const ExitNote& note : definition.exit_notes) {
    append_entry(out, "  " + std::to_string(static_cast<int>(note.status)), note.meaning, 7, width);
  }
  out += "\nManual page: " + std::string(definition.name) + "(1)\n";
  return out;
}

std::string version_text(const CommandDefinition& definition) {
  return fmt::format("{} (libsmd) {}\nfeatures: {}\n", definition.name, version(),
                     features().empty() ? std::string_view("none") : features());
}

}  // namespace smd::tool
