// SPDX-License-Identifier: Apache-2.0
#include <smd/version.hpp>

#include "cli/environment.hpp"
#include "cli/option_spec.hpp"
#include "cli/text.hpp"
#include "docgen.hpp"

#include <fmt/format.h>
#include <boost/algorithm/string/case_conv.hpp>

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

namespace smd::docgen {

namespace {

using tool::CommandDefinition;
using tool::OptionSpec;

// Sections with a fixed place by convention; a page's own others come before ENVIRONMENT.
constexpr std::string_view files_title = "FILES";
constexpr std::string_view examples_title = "EXAMPLES";

/// Writes `[OPTION]... TRIAL [NAME]...` as macros, one line for each part.
void synopsis(Roff& page, std::string_view text) {
  for (std::string_view part : tool::split(text, " ")) {
    const bool optional = part.starts_with('[');
    const bool repeats = part.ends_with("...");
    part.remove_suffix(repeats ? 3 : 0);
    part = optional ? part.substr(1, part.size() - 2) : part;
    std::string line = optional ? ".Op " : ".";
    line += part.starts_with('-') ? "Fl " + roff_word(part.substr(1)) : "Ar " + roff_word(part);
    page.macro(line + (repeats ? " ..." : ""));
  }
}

void prose_section(Roff& page, std::string_view title, std::string_view text) {
  if (!text.empty()) {
    page.macro(".Sh " + std::string(title));
    page.prose(text);
  }
}

std::string option_head(const OptionSpec& spec) {
  const std::string letter = spec.short_name == '\0' ? "" : std::string("Fl ") + spec.short_name + " , ";
  const std::string line = ".It " + letter + "Fl \\-" + roff_word(spec.name);
  return spec.metavar.empty() ? line : line + " Ar " + roff_word(spec.metavar);
}

std::string option_text(const OptionSpec& spec, const CommandDefinition& definition) {
  std::string text = as_sentence(spec.manual.empty() ? spec.help : spec.manual);
  if (const std::string words = definition.words_beside(text, spec); !words.empty()) {
    text += " One of " + words + ".";
  }
  const bool said = text.find("again") != std::string::npos || text.find("repeatable") != std::string::npos;
  if (spec.repeat == tool::Repeat::adds_up && !spec.metavar.empty() && !said) {
    text += spec.split_commas ? " A list separated by commas; may be given again." : " May be given again.";
  }
  return text;
}

void options(Roff& page, const CommandDefinition& definition, const Sections& group_notes) {
  page.macro(".Sh OPTIONS");
  page.prose(
      "Options and operands may come in any order; -- ends the options. A value follows its option as a word of its "
      "own, or after = (long options), or directly (short ones). If an option is given again the last value counts, "
      "unless it says otherwise.");
  for (const tool::OptionGroup& group : definition.groups()) {
    page.macro(".Ss " + std::string(group.title));
    page.prose(group_note(group_notes, group.title, definition.name));
    page.list(group.options, [&](const OptionSpec* spec) {
      page.macro(option_head(*spec));
      page.prose(option_text(*spec, definition));
    });
  }
}

void columns(Roff& page, const CommandDefinition& definition) {
  if (definition.columns == nullptr) {
    return;
  }
  page.macro(".Sh COLUMNS");
  page.prose("What --columns and --sort take, and the keys of JSON. Later versions may add some, and remove none.");
  page.list(definition.columns(), [&](const tool::ColumnTable& table) {
    page.macro(table.when.empty() ? ".It if nothing else is asked for"
                                  : ".It Fl " + roff_word(std::string_view(table.when).substr(1)));
    std::string text = fmt::format("{}{}{}", fmt::join(table.names, ", "), table.more.empty() ? "" : "; ", table.more);
    if (!table.sort_only.empty()) {
      text += fmt::format("; --sort also takes {}, as the job saved: by step, then by place in the file",
                          fmt::join(table.sort_only, ", "));
    }
    page.prose(text + ".");
  });
}

// Assignments, such as NAME=VALUE, are not listed on standard input.
bool takes_lists(const CommandDefinition& definition) {
  return std::ranges::any_of(definition.operands, [](const tool::OperandSpec& operand) {
    return operand.repeats && operand.metavar.find('=') == std::string_view::npos;
  });
}

void environment(Roff& page, const CommandDefinition& definition) {
  page.macro(".Sh ENVIRONMENT");
  page.list(tool::environment_variables(), [&](const tool::EnvironmentVariable& variable) {
    if (!tool::reads(definition.name, variable)) {
      return;
    }
    for (const std::string_view name : tool::split(variable.name, ", ")) {
      page.macro(".It Ev " + roff_word(name));
    }
    page.prose(variable.meaning);
  });
}

void exit_statuses(Roff& page, const CommandDefinition& definition) {
  page.macro(".Sh EXIT STATUS");
  page.list(definition.exit_notes, [&](const tool::ExitNote& note) {
    page.macro(".It " + std::to_string(static_cast<int>(note.status)));
    page.prose(as_sentence(note.meaning));
  });
  page.macro(".Pp");
  page.prose(status_note());
}

void examples(Roff& page, const CommandDefinition& definition, const Sections& own) {
  std::vector<tool::Example> all = definition.examples;
  if (const std::string_view more = text_of(own, examples_title); !more.empty()) {
    const std::vector<std::string_view> texts = tool::split(more, "\n\n");
    if (texts.size() % 2 != 0) {
      throw std::runtime_error(
          fmt::format("man/{}.1.in: the last purpose of EXAMPLES has no command", definition.name));
    }
    for (std::size_t i = 0; i < texts.size(); i += 2) {
      all.push_back({texts[i], texts[i + 1]});
    }
  }
  page.macro(".Sh EXAMPLES");
  bool first = true;
  for (const tool::Example& example : all) {
    if (!std::exchange(first, false)) {
      page.macro(".Pp");
    }
    std::string purpose = as_sentence(example.purpose);
    purpose.back() = purpose.back() == '.' ? ':' : purpose.back();
    page.prose(purpose);
    page.literal(example.command);
  }
}

void see_also(Roff& page, const CommandDefinition& definition) {
  std::vector<std::pair<std::string_view, std::string_view>> pages;  // section, name
  for (const std::string_view reference : definition.see_also) {
    const std::size_t open = reference.find('(');
    pages.emplace_back(reference.substr(open + 1, reference.size() - open - 2), reference.substr(0, open));
  }
  pages.emplace_back("7", "smd-cookbook");
  std::ranges::sort(pages);
  page.macro(".Sh SEE ALSO");
  page.macro(
      text::joined(pages, " ,\n", [](const auto& one) { return fmt::format(".Xr {} {}", one.second, one.first); }));
}

}  // namespace

std::string command_page(const CommandDefinition& definition, const Sections& own, const Sections& group_notes) {
  Roff page;
  page.macro(".\\\" Generated by tools/docgen: do not edit. SPDX-License-Identifier: Apache-2.0");
  page.macro(".Dd " + std::string(manual_date));
  page.macro(".Dt " + boost::to_upper_copy(std::string(definition.name)) + " 1");
  page.macro(".Os libsmd " + std::string(version()));
  page.macro(".Sh NAME");
  page.macro(".Nm " + std::string(definition.name));
  page.macro(".Nd " + std::string(definition.brief));
  page.macro(".Sh SYNOPSIS");
  page.macro(".Nm");
  synopsis(page, definition.synopsis);
  page.macro(".Sh DESCRIPTION");
  page.prose(definition.summary);
  page.macro(".Pp");
  page.prose(
      std::string(
          definition.name == "smd-save"
              ? "A TRIAL is the output directory of one training job, in the format of Amazon SageMaker Debugger. It "
                "is made if it does not exist."
              : "A TRIAL is what one training job wrote: the output directory of a hook of Amazon SageMaker Debugger, "
                "a log directory of TensorBoard, a run of W&B, a metric log (CSV, JSON lines), a folder of "
                "checkpoints, or one file of PyTorch or safetensors. If a directory is no trial itself, its folder "
                "debug-output is read, else the only trial below it.") +
      " The job may still be writing the trial." +
      std::string(takes_lists(definition)
                      ? " If one trial cannot be read, a message says so, and the others are still read. The operand - "
                        "stands for a list of operands on standard input, one a line."
                      : "") +
      (definition.operands.front().here ? " Without operands, the current folder is read." : ""));
  options(page, definition, group_notes);
  columns(page, definition);
  for (const TextSection& section : own) {
    if (section.title != files_title && section.title != examples_title) {
      prose_section(page, section.title, section.text);
    }
  }
  environment(page, definition);
  prose_section(page, files_title, text_of(own, files_title));
  exit_statuses(page, definition);
  examples(page, definition, own);
  see_also(page, definition);
  return page.text();
}

}  // namespace smd::docgen
