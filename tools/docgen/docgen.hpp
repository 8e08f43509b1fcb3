// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_definition.hpp"
#include "cli/escape.hpp"
#include "cli/exit_status.hpp"

/// Makes manual pages, completions and tables of documents of the commands' definitions and the rules' descriptions.
namespace smd::docgen {

using tool::with_backslashes;

using Definitions = std::vector<const tool::CommandDefinition*>;

// roff.cpp

/// Writes mdoc source without findings of `mandoc -Tlint`: one sentence per line, no line too long, no text mistaken
/// for a macro.
class Roff {
 public:
  /// Writes a line unchanged: `.Sh NAME`.
  void macro(std::string_view line);
  /// Writes paragraphs separated by blank lines. Options in them are bold.
  void prose(std::string_view text);
  /// Writes lines unchanged.
  void literal(std::string_view text);
  /// Writes a list; `entry` writes what stands in it for an item.
  template <class Items, class Entry>
  void list(const Items& items, const Entry& entry) {
    macro(".Bl -tag -width Ds");
    std::ranges::for_each(items, entry);
    macro(".El");
  }

  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  void paragraph(std::string_view text);

  std::string text_;
};

/// Returns a word escaped for roff; hyphens become minus signs.
[[nodiscard]] std::string roff_word(std::string_view word);

/// Capitalises the first letter and adds a full stop, unless the text has one.
[[nodiscard]] std::string as_sentence(std::string_view text);

// sections.cpp

using Slots = std::map<std::string, std::string, std::less<>>;
/// Whether a name can be that of a slot: it has capitals and `_` alone.
[[nodiscard]] bool is_slot(std::string_view name) noexcept;

/// A part of a text file: a line `.Sh TITLE`, and what follows it.
struct TextSection {
  std::string title;
  std::string text;  ///< Paragraphs of one line each, separated by blank lines.
};

using Sections = std::vector<TextSection>;

/// Parses a text file, in which lines that begin with `.\"` are comments, and fills its slots. If there are `titles`,
/// the sections have no others.
/// @throws std::runtime_error for a malformed line, and for an unknown slot.
[[nodiscard]] Sections sections(std::string_view text, const Slots& slots, std::span<const std::string> titles);

/// Returns the text of a section; empty if there is no such section.
[[nodiscard]] std::string_view text_of(const Sections& sections, std::string_view title) noexcept;

// facts.cpp

/// A limit of "text/limits.hpp", in a form for readers.
struct Limit {
  std::string_view name;  ///< As in the header.
  std::string value;      ///< `2 GiB - 1 byte`
  std::string_view of;    ///< What is limited.
};

[[nodiscard]] std::span<const Limit> limits();

/// The meanings of the exit statuses for all commands.
[[nodiscard]] std::span<const tool::ExitNote> statuses() noexcept;

/// Returns the tags of messages: `AccessDenied, …`.
[[nodiscard]] std::string tag_list();

/// Returns the text before a group of options in a manual page; empty if the group has no text. `notes`: of all groups.
[[nodiscard]] std::string_view group_note(const Sections& notes, std::string_view group,
                                          std::string_view command) noexcept;

/// Returns the text about every command's exit statuses.
[[nodiscard]] std::string status_note();

/// Returns the statuses in order of precedence: `2, 3, …`.
[[nodiscard]] std::string status_order();

// rules.cpp

/// The words that shells complete for a rule.
struct RuleWords {
  std::vector<std::string> names;  ///< The rule's name, then its alias.
  std::vector<std::string> parameters;
};

[[nodiscard]] std::vector<RuleWords> rule_words();

/// Returns the built-in rules as subsections of a manual page. `choices` are those made where AWS's descriptions are
/// silent or contradict themselves, by the rules' names.
[[nodiscard]] std::string rule_sections(const Sections& choices);
/// As above, for a Markdown document, preceded by a table of all rules.
[[nodiscard]] std::string rule_chapters(const Sections& choices);

// slots.cpp

/// Returns a text with each `@NAME@` (capitals and `_`) replaced, unless it is within a word, as in `loss@STEP@WORKER`;
/// a slot whose text ends in a newline replaces its line's newline.
/// @throws std::runtime_error for an unknown slot.
[[nodiscard]] std::string filled(std::string_view text, const Slots& slots);

/// Returns the word for a kind of value in the completions' templates; empty if nothing is offered.
[[nodiscard]] std::string_view kind_word(const tool::OptionSpec& spec) noexcept;
[[nodiscard]] std::string_view kind_word(tool::ArgumentKind kind) noexcept;

/// Returns what is offered for the value of an option: its choices, or the command's formats or columns.
[[nodiscard]] std::vector<std::string_view> offered(const tool::OptionSpec& spec,
                                                    const tool::CommandDefinition& definition);

/// Returns a text in single quotes, as all three shells read it; `quote` represents a single quote.
[[nodiscard]] std::string in_quotes(std::string_view text, std::string_view quote);

// completions.cpp

/// Returns the file for bash, for all commands: the template with its slots filled.
[[nodiscard]] std::string bash_completion(const Definitions& commands, std::string_view page);
/// Returns the file for zsh, for all commands.
[[nodiscard]] std::string zsh_completion(const Definitions& commands, std::string_view page);
/// Returns the fish functions that all commands share, and the file of one command.
[[nodiscard]] std::string fish_functions(const Definitions& commands, std::string_view page);
[[nodiscard]] std::string fish_completion(const tool::CommandDefinition& definition);

// command_page.cpp, slots.cpp

/// The date of all pages: that of the last visible change.
inline constexpr std::string_view manual_date = "November 21, 2026";

/// Returns the manual page of a command, section 1, in mdoc. `own` are its sections beyond the generated ones, and
/// under EXAMPLES, more examples: purpose and command in turn.
/// @throws std::runtime_error for a purpose without a command.
[[nodiscard]] std::string command_page(const tool::CommandDefinition& definition, const Sections& own,
                                       const Sections& group_notes);

/// Returns a hand-written page with its slots filled: `@DATE@`, `@VERSION@`, `@LIMITS@`, `@RULES@`.
/// @throws std::runtime_error for an unknown slot.
[[nodiscard]] std::string filled_page(std::string_view page, const Sections& choices);

/// As above, for a Markdown document: `@LIMITS@`, `@STATUSES@` and `@NOTES@` (the meaning of statuses for each
/// command) are tables.
[[nodiscard]] std::string filled_document(std::string_view text, const Definitions& commands, const Sections& choices);

}  // namespace smd::docgen
