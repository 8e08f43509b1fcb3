// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/exit_status.hpp"
#include "cli/option_spec.hpp"

namespace smd::tool {

/// A command line worth showing, and what it is for.
struct Example {
  std::string_view purpose;  ///< `Which tensors are there?`
  std::string_view command;  ///< `smd-ls run`
};

/// What an exit status means for this command.
struct ExitNote {
  ExitStatus status = ExitStatus::yes;
  std::string_view meaning;
};

/// Columns of one kind of rows, by the names that `--columns` takes.
struct ColumnTable {
  std::string when;  ///< The option that shows them: `--steps`; empty: shown if no other is asked for.
  std::vector<std::string_view> names;
  std::string_view more{};                    ///< Those that cannot be named beforehand: `each reduction, by its name`
  std::vector<std::string_view> sort_only{};  ///< Further names that --sort takes.
  std::vector<std::string_view> offered{};    ///< Names that shells offer, although not in `names`.
};

/// Operands in order; the last one may repeat.
struct OperandSpec {
  std::string_view metavar;  ///< `TRIAL`
  ArgumentKind kind = ArgumentKind::trial;
  bool required = true;
  bool repeats = false;
  bool here = false;  ///< If there is no operand, it is the current folder.
};

/// Options under one heading.
struct OptionGroup {
  std::string_view title;
  std::vector<const OptionSpec*> options;
};

/// Everything about a command but its code, and text for the manual page alone, which is in `man/NAME.1.in`. All texts
/// are literals; the spans point at static arrays.
struct CommandDefinition {
  std::string_view name;      ///< `smd-ls`
  std::string_view synopsis;  ///< After the name: `[OPTION]... TRIAL...`
  std::string_view summary;   ///< One sentence, with capital and full stop.
  std::string_view brief;     ///< For the NAME section: `list what a training job saved`.
  std::vector<OperandSpec> operands;
  std::vector<Example> examples;                           ///< For `--help` and the manual page.
  std::vector<std::span<const OptionSpec>> option_tables;  ///< Own tables first, then the shared ones.
  std::span<const std::string_view> formats;               ///< What `-f` takes, shared ones included.
  std::vector<ExitNote> exit_notes;
  std::vector<std::string_view> see_also{};  ///< `smd-tensor(1)`, …
  /// All columns. A function, so that only manual pages and completions pay for building them.
  std::vector<ColumnTable> (*columns)() = nullptr;

  /// All options by their headings, in the order of the tables.
  [[nodiscard]] std::vector<OptionGroup> groups() const;
  /// All options in the order of the tables.
  [[nodiscard]] std::vector<const OptionSpec*> options() const;
  /// The option of that long name; null if there is none.
  [[nodiscard]] const OptionSpec* find(std::string_view name) const;
  /// The values that an option takes; empty: any.
  [[nodiscard]] std::span<const std::string_view> choices_of(const OptionSpec& spec) const noexcept;
  /// `a, b, c`: the values that an option takes. Empty if it takes any value, or if `text` names each value already.
  [[nodiscard]] std::string words_beside(std::string_view text, const OptionSpec& spec) const;
};

/// -q -v --progress --no-progress, and -h --version: `run_command` itself obeys them.
struct MessageOptions {
  static constexpr auto options =
      in_group(group::messages,
               {
                   flag('q', "quiet", "print nothing but errors; see the exit status"),
                   flag('v', "verbose", "say more; twice: for debugging").repeatable(),
                   flag(no_letter, "progress", "show progress even if standard error is no terminal"),
                   flag(no_letter, "no-progress", "never show progress"),
                   flag('h', "help", "explain every option; -h: print their names, on one screen").under(group::other),
                   flag(no_letter, "version", "print the version and what is built in").under(group::other),
               });
  static std::span<const OptionSpec> table() noexcept { return options; }
};

}  // namespace smd::tool
