// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_definition.hpp"
#include "operands/reading_options.hpp"
#include "rows/output_options.hpp"
#include "rows/row_writer.hpp"
#include "select/selection.hpp"

namespace smd::tool::test {

/// A command with every shared option.
inline const CommandDefinition& sample_definition() {
  static const CommandDefinition definition = {
      .name = "smd-sample",
      .synopsis = "[OPTION]... TRIAL...",
      .summary = "Show what tests need.",
      .brief = "show what tests need",
      .operands = {{"TRIAL", ArgumentKind::trial, true, true}},
      .examples = {{"One?", "smd-sample run"}, {"Two?", "smd-sample --json run"}, {"Three?", "smd-sample -s last run"}},
      .option_tables = {SelectionOptions::name_table(), SelectionOptions::table(), OutputOptions::table(),
                        ReadingOptions::table(), MessageOptions::table()},
      .formats = row_format_names(),
      .exit_notes = {{ExitStatus::yes, "found"}, {ExitStatus::no, "nothing selected"}}};
  return definition;
}

}  // namespace smd::tool::test
