// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/diagnostics.hpp"
#include "select/selection.hpp"

#include <smd/trial.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smd::tool {

/// A chosen step.
struct SelectedStep {
  GlobalStep step;
  Mode mode = Mode::global;  ///< The mode asked for that has it.
  ModeStep mode_step;        ///< Its number in that mode; in `global` the number of `step`.

  bool operator==(const SelectedStep&) const = default;
};

/// The steps selected of several tensors.
struct TensorSteps {
  std::vector<SelectedStep> steps;  ///< All at which some tensor is wanted, ascending.
  /// By tensor, ascending; empty: `steps` applies to all.
  std::map<std::string, std::vector<GlobalStep>, std::less<>> own;

  [[nodiscard]] bool wants(std::string_view tensor, GlobalStep step) const;
  /// Whether `steps` has a step.
  [[nodiscard]] bool has(GlobalStep step) const;
  /// Those of `steps` at which the tensor is wanted.
  [[nodiscard]] std::vector<SelectedStep> of(std::string_view tensor) const;
  /// Adds a tensor's own steps. Call `sort` afterwards.
  void add(const std::string& tensor, std::span<const SelectedStep> chosen);
  void sort();
};

/// Which entries make a step one of the tensor's own: those with a value, say.
using EntryFilter = std::function<bool(const TensorEntry&)>;

/// Whether the trial has an entry of the query that counts. Without a filter, any does.
[[nodiscard]] bool any_entry(const Trial& trial, const EntryQuery& query, const EntryFilter& counts = {});

/// What to choose, and from which candidates.
struct StepRequest {
  const SelectionOptions& options;  ///< -m and --every; the worker and --incomplete narrow the candidates.
  StepSpec spec = {};               ///< In place of `options.steps`.
  /// Each chooses among its own steps, those of entries that count. In byte order.
  std::span<const std::string> tensors = {};
  EntryFilter counts = {};  ///< Empty: the steps of the trial are chosen from, not those of tensors.
  /// What is missing of a tensor is reported for each. False: once for all, and only counts that go beyond the steps of
  /// some tensors; tensors without any candidate are left out.
  bool reports_each = true;
  std::span<const SelectedStep> beside = {};  ///< Steps that all tensors choose in any case.
};

/// The steps that a request chooses: in each mode those of the SPEC, then of these every Nth; ascending by global step,
/// each once. Of the trial: in `steps` alone. Reads more of the trial if the SPEC needs it (a `last` of one mode, a
/// tail of incomplete steps). Reports, with status 1, what is missing (see explanations.hpp), and returns the rest;
/// nothing is reported if `messages` is null.
/// @pre The trial was opened with the first of `ranges_to_read`, or `range_to_read_of_tensors`, of the SPEC.
[[nodiscard]] TensorSteps choose_steps(Trial& trial, const StepRequest& request, Diagnostics* messages);

/// The steps of a trial that the options choose: `options.steps`, else `fallback`.
[[nodiscard]] std::vector<SelectedStep> select_steps(Trial& trial, const SelectionOptions& options,
                                                     const StepSpec& fallback, Diagnostics& messages);

/// The same of tensors, if a SPEC counts from an end: terms that do count each tensor's own steps, others choose steps
/// of the trial. If `messages` is null, the others choose nothing. @pre `tensors` is in byte order.
[[nodiscard]] TensorSteps select_steps_of_tensors(Trial& trial, const SelectionOptions& options,
                                                  const StepSpec& fallback, std::span<const std::string> tensors,
                                                  const EntryFilter& counts, Diagnostics* messages);

/// The number of a step in a mode; nullopt if the mode lacks it, or if an earlier step has the number: a job restarted
/// without its checkpoint counts its mode steps anew, and a number means the first step that has it. As far as read.
[[nodiscard]] std::optional<std::int64_t> number_in(const Trial& trial, Mode mode, GlobalStep step);

/// The steps of a mode that a request of the trial or of one tensor chooses from, ascending by their numbers there.
/// `incomplete`: also those not written by all workers.
[[nodiscard]] std::vector<SelectedStep> candidates_in(const Trial& trial, const StepRequest& request, Mode mode,
                                                      bool incomplete);

/// The numbers that steps have in their modes.
[[nodiscard]] std::vector<std::int64_t> numbers_of(std::span<const SelectedStep> steps);

/// Whether the worker asked for saved an entry of the tensor that counts, at any step, complete or not.
[[nodiscard]] bool has_candidates(const Trial& trial, const SelectionOptions& options, const std::string& tensor,
                                  const EntryFilter& counts);

/// What to read at first so that a SPEC can be resolved: `-s last` needs the newest index files only, `-s 5000:8000`
/// those between. The number of a mode step does not show which files hold it, unless it counts from the end.
/// Everything if `spec` is nullopt. At least one range: a trial is opened with the first, and `choose_steps` reads the
/// others.
[[nodiscard]] std::vector<StepRange> ranges_to_read(const std::optional<StepSpec>& spec, std::span<const Mode> modes);
/// The first of them if each tensor's own steps count: everything if only a pattern or a collection determines the
/// tensors.
[[nodiscard]] StepRange range_to_read_of_tensors(const SelectionOptions& options, const StepSpec& spec);

/// Reads more and more steps from the end that `need` counts from, until `enough` holds or all are read. `enough` is
/// called with how many steps of that end are read at least.
void read_until(Trial& trial, const StepNeed& need, const std::function<bool(std::size_t count)>& enough);

}  // namespace smd::tool
