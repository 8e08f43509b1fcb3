// SPDX-License-Identifier: Apache-2.0
#include "docgen.hpp"

#include "cli/diagnostics.hpp"
#include "cli/mapped.hpp"
#include "text/ascii.hpp"
#include "text/words.hpp"

#include <smd/version.hpp>

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <stdexcept>

namespace smd::docgen {

namespace {

using tool::ArgumentKind;
using tool::OptionSpec;

/// Returns the end of the slot's name that starts at `at`, or npos.
std::size_t name_end(std::string_view text, std::size_t at) {
  const std::size_t end = text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_", at);
  return end != std::string_view::npos && end > at && text[end] == '@' ? end : std::string_view::npos;
}

/// The words for kinds of values, in the order of ArgumentKind.
constexpr auto kind_words = std::to_array<std::string_view>({
    "",  // none
    "",  // text
    "file",
    "folder",
    "trial",
    "tensor",
    "collection",
    "worker",
    "",  // pattern
    "step",
    "step_number",
    "mode",
    "choice",  // format
    "format_file",
    "choice",
    "choice",  // columns
    "choice",  // sort_keys
    "",        // number
    "",        // duration
    "rule",
    "rule_parameter",
});
static_assert(kind_words.size() == static_cast<std::size_t>(ArgumentKind::rule_parameter) + 1);

/// Returns a text as a cell of a Markdown table.
std::string cell(std::string_view text) { return with_backslashes(text, "|<"); }

std::string limit_table() {
  return "| Limit | | Of |\n|---|---|---|\n" + text::joined(limits(), "", [](const Limit& limit) {
           return fmt::format("| `{}` | {} | {} |\n", limit.name, cell(limit.value), cell(limit.of));
         });
}

std::string table_of_statuses() {
  return "| Status | Meaning |\n|---|---|\n" + text::joined(statuses(), "", [](const tool::ExitNote& note) {
           return fmt::format("| {} | {} |\n", static_cast<int>(note.status), cell(note.meaning));
         });
}

std::string tag_table() {
  return "| Tag | Status | Meaning |\n|---|---|---|\n" +
         text::joined(tool::message_tags(), "", [](const tool::MessageTag& tag) {
           const auto status = static_cast<int>(tag.status);
           return tag.meaning.empty() ? "" : fmt::format("| `{}` | {} | {} |\n", tag.tag, status, cell(tag.meaning));
         });
}

std::string note_table(const Definitions& commands) {
  std::string text = "| Command | Status | Meaning |\n|---|---|---|\n";
  for (const tool::CommandDefinition* definition : commands) {
    std::string name = "`" + std::string(definition->name) + "`";
    for (const tool::ExitNote& note : definition->exit_notes) {
      text += "| " + name + " | " + std::to_string(static_cast<int>(note.status)) + " | " + cell(note.meaning) + " |\n";
      name.clear();
    }
  }
  return text;
}

std::string limit_list() {
  Roff page;
  page.list(limits(), [&](const Limit& limit) {
    page.macro(".It Li " + roff_word(limit.name));
    page.prose(limit.value + ": " + std::string(limit.of) + ".");
  });
  return page.text();
}

}  // namespace

bool is_slot(std::string_view name) noexcept { return name_end(std::string(name) + "@", 0) == name.size(); }

std::string filled(std::string_view text, const Slots& slots) {
  std::string out;
  std::size_t done = 0;
  for (std::size_t at = text.find('@'); at != std::string_view::npos; at = text.find('@', at)) {
    const bool in_word = at > 0 && text::is_alphanumeric(text[at - 1]);
    const std::size_t end = name_end(text, at + 1);
    if (in_word || end == std::string_view::npos) {
      ++at;
      continue;
    }
    const std::string_view name = text.substr(at + 1, end - at - 1);
    const auto slot = slots.find(name);
    if (slot == slots.end()) {
      throw std::runtime_error("no slot @" + std::string(name) + "@");
    }
    out += text.substr(done, at - done);
    out += slot->second;
    done = at = end + 1;
    if (slot->second.ends_with('\n') && done < text.size() && text[done] == '\n') {
      ++done;
    }
  }
  return out + std::string(text.substr(done));
}

std::string_view kind_word(ArgumentKind kind) noexcept { return kind_words.at(static_cast<std::size_t>(kind)); }

std::string_view kind_word(const OptionSpec& spec) noexcept {
  const std::string_view word = kind_word(spec.kind);
  return word.empty() && !spec.choices.empty() ? kind_word(ArgumentKind::choice) : word;
}

std::vector<std::string_view> offered(const OptionSpec& spec, const tool::CommandDefinition& definition) {
  const bool formats = spec.kind == ArgumentKind::format || spec.kind == ArgumentKind::format_file;
  const std::span<const std::string_view> words = formats ? definition.formats : spec.choices;
  std::vector<std::string_view> all(words.begin(), words.end());
  const bool to_sort = spec.kind == ArgumentKind::sort_keys;
  if ((spec.kind == ArgumentKind::columns || to_sort) && definition.columns != nullptr) {
    const auto add = [&all](const std::vector<std::string_view>& names) {
      std::ranges::for_each(names, [&all](std::string_view name) { tool::add_once(all, name); });
    };
    for (const tool::ColumnTable& table : definition.columns()) {
      add(table.names);
      add(table.offered);
      if (to_sort) {
        add(table.sort_only);
      }
    }
  }
  return all;
}

std::string in_quotes(std::string_view text, std::string_view quote) {
  std::string out = "'";
  tool::append_replaced(out, text, {{'\'', quote}});
  return out + "'";
}

std::string filled_page(std::string_view page, const Sections& choices) {
  return filled(page, {{"DATE", std::string(manual_date)},
                       {"VERSION", std::string(version())},
                       {"LIMITS", limit_list()},
                       {"RULES", rule_sections(choices)}});
}

std::string filled_document(std::string_view text, const Definitions& commands, const Sections& choices) {
  return filled(text, {{"LIMITS", limit_table()},
                       {"STATUSES", table_of_statuses()},
                       {"STATUS_ORDER", status_order()},
                       {"TAGS", tag_table()},
                       {"NOTES", note_table(commands)},
                       {"RULES", rule_chapters(choices)}});
}

}  // namespace smd::docgen
