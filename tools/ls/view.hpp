// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <smd/trial.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/diagnostics.hpp"
#include "options.hpp"
#include "rows/row_writer.hpp"
#include "select/explanations.hpp"

namespace smd::tool::ls {

/// One way to show what operands name.
class View {
 public:
  /// `options` must outlive the view.
  explicit View(const LsOptions& options) noexcept : options_(options) {}
  View(const View&) = delete;
  View& operator=(const View&) = delete;
  virtual ~View() = default;

  /// In order; valid as long as the view.
  [[nodiscard]] virtual std::span<const Column> columns() const = 0;
  /// How rows are printed; views may adapt what was asked for.
  [[nodiscard]] virtual OutputOptions output() const { return options_.output; }
  /// Whether operands are trials, each shown by itself: then several can be shown at the same time, by a view each.
  [[nodiscard]] virtual bool shows_single_trials() const noexcept { return false; }
  /// Threads for the next operand; 0: what -j says.
  void set_jobs(unsigned jobs) noexcept { jobs_ = jobs; }
  /// Prints the rows of one operand. Returns whether there were any: if no operand has any, the status is 1.
  virtual bool show(const std::string& operand, RowWriter& rows, Diagnostics& messages) = 0;
  /// As `show`, for all operands at once, as rows come; called only where `LsOptions` permits --follow.
  virtual bool follow(const std::vector<std::string>& /*operands*/, RowWriter& /*rows*/, Diagnostics& /*messages*/) {
    return false;
  }
  /// Operands without anything to show, and why, unless that was reported: used if no operand had anything.
  [[nodiscard]] const std::vector<std::pair<std::string, NothingSelected>>& empty() const noexcept { return empty_; }

  /// What is there, and commands for it, a line each, if `LsOptions::says_next`.
  [[nodiscard]] const std::string& next() const noexcept { return next_; }

 protected:
  [[nodiscard]] const LsOptions& options() const noexcept { return options_; }
  [[nodiscard]] unsigned jobs() const noexcept { return jobs_ != 0 ? jobs_ : options_.reading.jobs; }
  void set_next(std::string lines) { next_ = std::move(lines); }
  void set_empty(const std::string& operand, NothingSelected why) { empty_.emplace_back(operand, std::move(why)); }

 private:
  const LsOptions& options_;
  unsigned jobs_ = 0;
  std::vector<std::pair<std::string, NothingSelected>> empty_;
  std::string next_;
};

/// A view of trials, each opened for it.
class OneTrialView : public View {
 public:
  using View::View;
  [[nodiscard]] bool shows_single_trials() const noexcept final { return true; }
  bool show(const std::string& operand, RowWriter& rows, Diagnostics& messages) final;

 protected:
  /// What to read on opening: by default what the selected steps need.
  [[nodiscard]] virtual StepRange range() const;
  virtual bool show_trial(Trial& trial, RowWriter& rows, Diagnostics& messages) = 0;
};

/// A view as the command line knows it.
struct ViewSpec {
  std::string_view option;  ///< Long name of the option that asks for it; empty: shown if no other is asked for.
  bool selects = true;      ///< Selection options narrow it.
  bool details = false;     ///< -l adds to it.
  std::unique_ptr<View> (*make)(const LsOptions& options) = nullptr;
};

/// All views. A new one is a file with its maker, a line here and an option in `LsOptions::table`.
[[nodiscard]] std::span<const ViewSpec> views() noexcept;

std::unique_ptr<View> make_names_view(const LsOptions& options);
std::unique_ptr<View> make_tree_view(const LsOptions& options);
std::unique_ptr<View> make_steps_view(const LsOptions& options);
std::unique_ptr<View> make_modes_view(const LsOptions& options);
std::unique_ptr<View> make_workers_view(const LsOptions& options);
std::unique_ptr<View> make_collections_view(const LsOptions& options);
std::unique_ptr<View> make_hparams_view(const LsOptions& options);
std::unique_ptr<View> make_summary_view(const LsOptions& options);
std::unique_ptr<View> make_locations_view(const LsOptions& options);
std::unique_ptr<View> make_check_view(const LsOptions& options);
std::unique_ptr<View> make_find_view(const LsOptions& options);

/// For `CommandDefinition::columns`.
[[nodiscard]] std::vector<ColumnTable> column_tables();

/// The keys that `--get` takes: those of the summary.
[[nodiscard]] std::span<const Column> summary_columns() noexcept;

}  // namespace smd::tool::ls
