// SPDX-License-Identifier: Apache-2.0
#include "view.hpp"

#include <array>

#include "operands/operands.hpp"

namespace smd::tool::ls {

std::span<const ViewSpec> views() noexcept {
  static constexpr std::array<ViewSpec, 11> table = {{
      {"", true, true, make_names_view},
      {"tree", true, false, make_tree_view},
      {"steps", true, true, make_steps_view},
      {"modes", true, false, make_modes_view},
      {"workers", true, false, make_workers_view},
      {"collections", true, false, make_collections_view},
      {"hparams", false, false, make_hparams_view},
      {"summary", false, false, make_summary_view},
      {"locations", true, false, make_locations_view},
      {"check", false, false, make_check_view},
      {"find", false, false, make_find_view},
  }};
  return table;
}

std::vector<ColumnTable> column_tables() {
  LsOptions options;
  options.output.format = "tsv";
  std::vector<ColumnTable> tables;
  for (const ViewSpec& spec : views()) {
    const std::unique_ptr<View> view = spec.make(options);
    if (!view->columns().empty()) {
      tables.push_back(column_table(spec.option.empty() ? "" : "--" + std::string(spec.option), view->columns()));
    }
  }
  return tables;
}

bool OneTrialView::show(const std::string& operand, RowWriter& rows, Diagnostics& messages) {
  rows.set_trial(operand);
  bool found = false;
  TrialOptions reading = options().reading.trial_options(range());
  reading.jobs = jobs();
  with_trial(
      operand, reading, messages,
      [&](Trial& trial) {
        found = show_trial(trial, rows, messages);
        if (!found && options().view->selects && messages.status() == ExitStatus::yes && !options().output.quiet) {
          set_empty(operand, why_nothing(trial, options().selection));
        }
      },
      hint_for(operand, options().operands));
  return found;
}

StepRange OneTrialView::range() const { return range_to_read(options().selection.steps, options().selection.modes); }

}  // namespace smd::tool::ls
