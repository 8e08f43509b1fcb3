// SPDX-License-Identifier: Apache-2.0
#include <smd/version.hpp>

#include "cli/diagnostics.hpp"
#include "facts.hpp"
#include "pages.hpp"
#include "roff.hpp"
#include "rules.hpp"
#include "slots.hpp"

namespace smd::docgen {

namespace {

/// Returns a text as a cell of a Markdown table.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|' || c == '<') {
      out += '\\';
    }
    out += c;
  }
  return out;
}

std::string limit_table() {
  std::string text = "| Limit | | Of |\n|---|---|---|\n";
  for (const Limit& limit : limits()) {
    text += "| `" + std::string(limit.name) + "` | " + cell(limit.value) + " | " + cell(limit.of) + " |\n";
  }
  return text;
}

std::string table_of_statuses() {
  std::string text = "| Status | Meaning |\n|---|---|\n";
  for (const StatusFact& fact : statuses()) {
    text += "| " + std::to_string(static_cast<int>(fact.status)) + " | " + cell(fact.meaning) + " |\n";
  }
  return text;
}

std::string tag_table() {
  std::string text = "| Tag | Status | Meaning |\n|---|---|---|\n";
  for (const tool::MessageTag& tag : tool::message_tags()) {
    if (!tag.meaning.empty()) {
      text += "| `" + std::string(tag.tag) + "` | " + std::to_string(static_cast<int>(tag.status)) + " | " +
              cell(tag.meaning) + " |\n";
    }
  }
  return text;
}

std::string note_table(const std::vector<const tool::CommandDefinition*>& commands) {
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
  Roff list;
  list.macro(".Bl -tag -width Ds");
  for (const Limit& limit : limits()) {
    list.macro(".It Li " + roff_word(limit.name));
    list.prose(limit.value + ": " + std::string(limit.of) + ".");
  }
  list.macro(".El");
  return list.text();
}

}  // namespace

std::string filled_page(std::string_view page) {
  return filled(page, {{"DATE", std::string(manual_date)},
                       {"VERSION", std::string(version())},
                       {"LIMITS", limit_list()},
                       {"RULES", rule_sections()}});
}

std::string filled_document(std::string_view text, const std::vector<const tool::CommandDefinition*>& commands) {
  return filled(text, {{"LIMITS", limit_table()},
                       {"STATUSES", table_of_statuses()},
                       {"STATUS_ORDER", status_order()},
                       {"TAGS", tag_table()},
                       {"NOTES", note_table(commands)},
                       {"RULES", rule_chapters()}});
}

}  // namespace smd::docgen
