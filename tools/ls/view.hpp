// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/trial.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/diagnostics.hpp"
#include "options.hpp"
#include "rows/row_writer.hpp"

namespace smd::tool::ls {

/// What a view is asked for, and where its rows go.
struct Showing {
  const LsOptions& options;
  RowWriter& rows;
  Diagnostics& messages;
  std::string next = {};          ///< What is there, and commands for it, a line each, if `LsOptions::says_next`.
  bool said_unprotected = false;  ///< That nothing protects the elements, which is said once.
};

/// What to read of a trial on opening: what the selected steps need.
[[nodiscard]] StepRange selected_range(const LsOptions& options);

/// One way to show what operands name.
struct ViewSpec {
  std::string_view option = {};  ///< Long name of the option that asks for it; empty: shown if no other is asked for.
  bool selects = true;           ///< Selection options narrow it.
  bool details = false;          ///< -l adds to it.
  std::vector<Column> (*columns)(const LsOptions& options) = nullptr;
  StepRange (*range)(const LsOptions& options) = selected_range;
  /// Prints the rows of one trial. Returns whether there were any: if no operand has any, the status is 1. Several
  /// trials are shown at the same time.
  bool (*show_trial)(Trial& trial, Showing& to) = nullptr;
  /// In place of `show_trial`: prints the rows of what is selected, if that is anything.
  bool (*show_selected)(Trial& trial, const Selection& selection, Showing& to) = nullptr;
  /// In place of both, for an operand that need not be a trial; one after another.
  bool (*show_operand)(const std::string& operand, Showing& to) = nullptr;

  /// Calls `show_trial` or `show_selected`.
  bool show(Trial& trial, Showing& to) const;
};

/// All views. A new one is a `ViewSpec` in a file, two lines here and an option in `LsOptions::table`.
[[nodiscard]] std::span<const ViewSpec* const> views() noexcept;
extern const ViewSpec names_view;
extern const ViewSpec tree_view;
extern const ViewSpec steps_view;
extern const ViewSpec modes_view;
extern const ViewSpec workers_view;
extern const ViewSpec collections_view;
extern const ViewSpec hparams_view;
extern const ViewSpec summary_view;
extern const ViewSpec locations_view;
extern const ViewSpec check_view;
extern const ViewSpec find_view;

/// Shows the steps of all operands at once, as they complete. Returns whether something was selected.
bool follow_steps(const std::vector<std::string>& operands, Showing& to);

/// For `CommandDefinition::columns`.
[[nodiscard]] std::vector<ColumnTable> column_tables();
/// The keys that `--get` takes: those of the summary.
[[nodiscard]] const std::vector<std::string_view>& summary_keys();

/// What the trial in the current folder is, and the three commands that make sense for it, a line each.
[[nodiscard]] std::string next_commands(const Trial& trial);

/// In place of a shape or element type that differs over steps or workers.
inline constexpr std::string_view varies = "varies";
/// `train`, `eval`, …
[[nodiscard]] std::vector<std::string> mode_texts(std::span<const Mode> modes);
/// `Column::show` of lists: as many items as fit a column of sensible width, then how many more there are: `a,b,+7`.
void show_abridged(std::string& out, const Cell& cell, int precision);

}  // namespace smd::tool::ls
