// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <smd/trial.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.hpp"
#include "cli/diagnostics.hpp"
#include "select/step_spec.hpp"

namespace smd::tool {

/// The selection options, as option tables and as their values.
struct SelectionOptions {
  std::vector<std::string> names;        ///< -n
  std::vector<std::string> regexes;      ///< -e
  std::vector<std::string> collections;  ///< -c
  std::vector<std::string> excludes;     ///< -x
  std::vector<Mode> modes;               ///< -m; never empty: `global` is the default.
  bool modes_given = false;
  std::optional<StepSpec> steps;      ///< -s; none: the command's default.
  std::int64_t every = 1;             ///< --every
  std::optional<std::string> worker;  ///< -w NAME; none: the first by name, for values.
  bool all_workers = false;           ///< -w all
  bool incomplete = false;            ///< --incomplete

  /// -e -c -x -m -s --every -w --incomplete.
  static std::span<const OptionSpec> table() noexcept;
  /// -n, for commands where names are not operands.
  static std::span<const OptionSpec> name_table() noexcept;
  /// @throws UsageError.
  static SelectionOptions from(const CommandLine& line);

  /// Any of -n -e -c was given.
  [[nodiscard]] bool selects_tensors() const noexcept {
    return !names.empty() || !regexes.empty() || !collections.empty();
  }
};

/// What -m says: each mode once, in the order given; none: `global`. @throws UsageError.
[[nodiscard]] std::vector<Mode> modes_from(const CommandLine& line);

/// The mode whose entries alone are asked for; none: several modes, or all steps. Workers may claim different modes for
/// one step, and each one's tensors are filed under its own claim.
[[nodiscard]] std::optional<Mode> only_mode(const SelectionOptions& options) noexcept;

/// What to say of a mode asked of a trial whose steps have none: that names tell, with one of that side.
/// @pre !trial.has_modes()
[[nodiscard]] std::string without_modes(const Trial& trial, Mode asked);
/// Whether steps of one of the modes can come; if the trial's layout has no modes and none is `global`, says so:
/// StepUnavailable, status 1. For trials that are waited for; `select_steps` says it of others.
[[nodiscard]] bool check_modes(const Trial& trial, std::span<const Mode> modes, Diagnostics& messages);

/// What to read at first so that a SPEC can be resolved: `-s last` needs the newest index files only, `-s 5000:8000`
/// those between. Mode steps do not tell where they lie, except from the end. `spec` none: everything.
[[nodiscard]] StepRange range_to_read(const std::optional<StepSpec>& spec, std::span<const Mode> modes);

/// The same with all ranges, one at least, where `range_to_read` gives the first: `select_steps` reads the others.
[[nodiscard]] std::vector<StepRange> ranges_to_read(const std::optional<StepSpec>& spec, std::span<const Mode> modes);

/// A step chosen: all its numbers.
struct SelectedStep {
  GlobalStep step;
  Mode mode = Mode::global;  ///< The one asked for that has it; for `global` the step's own.
  ModeStep mode_step;

  bool operator==(const SelectedStep&) const = default;
};

/// Where the steps to choose from come from: the global steps at which something was saved, ascending, with those not
/// written by all workers if asked. Called anew after more of the trial was read.
using StepSource = std::function<std::vector<GlobalStep>(bool incomplete)>;

/// The steps that the options choose: by mode, SPEC (`options.steps`, else `fallback`), then `--every`; ascending by
/// global step, each once. Reads more of the trial where the SPEC needs it (a `last` of one mode, a tail of incomplete
/// steps). `source`: count and choose among a tensor's own steps (`tensor` names it in messages); default: the trial's.
///
/// Reports, with status 1, what is not there: no step saved yet, a mode not saved (names those that were), a single
/// step that is not there (StepUnavailable, StepNotYetAvailable or NoMoreData, with the nearest saved steps and the
/// mode in which that number does exist), no step among those asked for. Returns the rest.
[[nodiscard]] std::vector<SelectedStep> select_steps(Trial& trial, const SelectionOptions& options,
                                                     const StepSpec& fallback, Diagnostics& messages,
                                                     const StepSource& source = {}, std::string_view tensor = {});

/// Whether part of a trial was refused by the system, the disk or the store: then what is not seen may be there.
[[nodiscard]] bool partly_unread(const Trial& trial);
/// What follows `was not saved` and the like: nothing, unless `partly_unread`.
[[nodiscard]] std::string as_far_as_read(const Trial& trial);

/// Says that a trial has no step: StepNotYetAvailable, or NoMoreData once the job has ended; StepUnavailable if
/// `partly_unread`.
void report_no_step(const Trial& trial, Diagnostics& messages, ExitStatus status = ExitStatus::no);

/// The names that -n -e -c -x select among the tensors of the steps read, in byte order. Exact names that the trial
/// does not have: TensorUnavailable with the nearest three, status 1 (the rest of the trial is read before that is
/// said); a collection that it does not define: likewise. -m narrows to tensors saved in one of the modes.
/// @throws UsageError for a bad pattern.
[[nodiscard]] std::vector<std::string> select_tensors(Trial& trial, const SelectionOptions& options,
                                                      Diagnostics& messages);

/// What -n -e -c -x say, without regard to names that the trial does not have. Of collections only those that the trial
/// defines; nullopt if nothing else was asked for, since an empty query would mean all tensors.
[[nodiscard]] std::optional<TensorQuery> tensor_query(const Trial& trial, const SelectionOptions& options);

/// The tensors that -n -e -c -x select among those saved at a step, or at any, in the mode asked for if it is one; in
/// byte order. Reports nothing.
[[nodiscard]] std::vector<std::string> tensors_at(const Trial& trial, const SelectionOptions& options,
                                                  const std::optional<GlobalStep>& step);

/// `collection 'x' is not defined`, and which are: the nearest, else all.
[[nodiscard]] std::string undefined_collection(std::string_view name, const std::map<std::string, Collection>& known);

/// Ends of messages about a step that is not there: `; nearest: 5 and 10` of ascending numbers, and `; there is a step
/// 7 in mode train` for modes of the trial other than the one asked for. Empty if there is nothing to add.
[[nodiscard]] std::string nearest_steps(std::span<const std::int64_t> numbers, std::int64_t wanted);
[[nodiscard]] std::string modes_that_have(const Trial& trial, Mode asked, std::int64_t number);

/// Whether the trial has a tensor. If the steps read so far do not tell, reads the rest; if it has none, says so:
/// TensorUnavailable with the nearest three names, status 1.
[[nodiscard]] bool require_tensor(Trial& trial, std::string_view name, Diagnostics& messages);

/// Whether -w names a worker that the trial has (or none in particular); if not: InvalidWorker with the names,
/// status 1.
[[nodiscard]] bool check_worker(const Trial& trial, const SelectionOptions& options, Diagnostics& messages);

/// Says that none of the tensors saved is among those asked for, unless something was wrong before; status 1. Where the
/// trial is at hand, `nothing_selected.hpp` has more to say.
void say_nothing_selected(Diagnostics& messages);
/// The same of the steps of a trial, which `select_steps` and `follow_trials` say. `saved`: which there are, if known.
void say_no_step_selected(std::string_view trial, Diagnostics& messages, std::string_view saved = {});

/// An EntryQuery for these tensors and steps, with the options' worker choice (default: first by name).
[[nodiscard]] EntryQuery entry_query(const SelectionOptions& options, std::vector<std::string> tensors,
                                     std::span<const SelectedStep> steps);

/// `train`, `eval`, `predict`, `global`: as messages and captions name modes, and as -m takes them. Rows name them as
/// the trial stores them: `smd::to_string`.
[[nodiscard]] std::string_view mode_text(Mode mode) noexcept;

}  // namespace smd::tool
