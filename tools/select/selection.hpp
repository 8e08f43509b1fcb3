// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_line.hpp"
#include "cli/diagnostics.hpp"
#include "select/step_spec.hpp"

#include <smd/trial.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smd::tool {

/// The selection options, as option tables and as their values.
struct SelectionOptions {
  std::vector<std::string> names;        ///< -n
  std::vector<std::string> regexes;      ///< -e
  std::vector<std::string> collections;  ///< -c
  std::vector<std::string> excludes;     ///< -x
  std::vector<Mode> modes;               ///< -m; never empty: `global` is the default.
  bool modes_given = false;
  std::optional<StepSpec> steps;      ///< -s; nullopt: the command's default.
  std::int64_t every = 1;             ///< --every
  std::optional<std::string> worker;  ///< -w NAME; nullopt: the first by name, for values.
  bool all_workers = false;           ///< -w all
  bool incomplete = false;            ///< --incomplete

  /// -e -c -x -m -s --every -w --incomplete.
  static std::span<const OptionSpec> table() noexcept;
  /// -e -c -x alone, for commands that choose tensors and not steps.
  static std::span<const OptionSpec> tensor_table() noexcept { return table().first(3); }
  /// -n, for commands where names are not operands.
  static std::span<const OptionSpec> name_table() noexcept;
  /// @throws UsageError.
  static SelectionOptions from(const CommandLine& line);

  /// Whether any of -n -e -c was given.
  [[nodiscard]] bool selects_tensors() const noexcept {
    return !names.empty() || !regexes.empty() || !collections.empty();
  }
};

/// The mode that a word names, in any case. `what` is said of another word. @throws InvalidValue.
[[nodiscard]] Mode mode_from(const std::string& word, std::string_view what = {});

/// The modes of -m, each once, in the order given; without -m: `global`. @throws UsageError.
[[nodiscard]] std::vector<Mode> modes_from(const CommandLine& line);

/// The only mode whose entries are asked for; nullopt: several modes, or all steps. Workers may claim different modes
/// for one step, and each one's tensors are filed under its own claim.
[[nodiscard]] std::optional<Mode> only_mode(const SelectionOptions& options) noexcept;

/// The message for a mode asked of a trial whose steps have none: names show the mode instead, with an example.
/// @pre !trial.layout().has_modes
[[nodiscard]] std::string without_modes(const Trial& trial, Mode asked);
/// Whether steps of one of the modes can come; if the trial's layout has no modes and none is `global`, reports
/// StepUnavailable, status 1. For trials that are waited for; for others, `select_steps` reports it.
[[nodiscard]] bool check_modes(const Trial& trial, std::span<const Mode> modes, Diagnostics& messages);

/// What to read at first so that a SPEC can be resolved: `-s last` needs the newest index files only, `-s 5000:8000`
/// those between. The number of a mode step does not show which files hold it, unless it counts from the end.
/// Everything if `spec` is nullopt.
[[nodiscard]] StepRange range_to_read(const std::optional<StepSpec>& spec, std::span<const Mode> modes);

/// All ranges needed, at least one; `range_to_read` returns the first, and `select_steps` reads the others.
[[nodiscard]] std::vector<StepRange> ranges_to_read(const std::optional<StepSpec>& spec, std::span<const Mode> modes);

/// A chosen step, with all its numbers.
struct SelectedStep {
  GlobalStep step;
  Mode mode = Mode::global;  ///< The mode asked for that has it; for `global` the step's own.
  ModeStep mode_step;

  bool operator==(const SelectedStep&) const = default;
};

/// Returns the steps to choose from: the global steps at which something was saved, ascending; if `incomplete`, also
/// those not written by all workers. Called again after more of the trial was read.
using StepSource = std::function<std::vector<GlobalStep>(bool incomplete)>;

/// The steps that the options choose: by mode, SPEC (`options.steps`, else `fallback`), then `--every`; ascending by
/// global step, each once. Reads more of the trial if the SPEC needs it (a `last` of one mode, a tail of incomplete
/// steps). `source`: count and choose among a tensor's own steps (`tensor` names it in messages); default: the trial's.
///
/// Reports, with status 1, what is missing: no step saved yet, a mode not saved (names those that were), a single step
/// that was not saved (StepUnavailable, StepNotYetAvailable or NoMoreData, with the nearest saved steps and the mode in
/// which that number does exist), no step among those asked for. Returns the rest.
[[nodiscard]] std::vector<SelectedStep> select_steps(Trial& trial, const SelectionOptions& options,
                                                     const StepSpec& fallback, Diagnostics& messages,
                                                     const StepSource& source = {}, std::string_view tensor = {});

/// How many of a trial's steps may be read some at a time; 0 if reading a few means to read the whole trial.
[[nodiscard]] std::size_t steps_worth_reading(const Trial& trial);

/// Whether part of a trial could not be read (access, disk or store): then what seems missing may exist.
[[nodiscard]] bool partly_unread(const Trial& trial);
/// Text to follow `was not saved` and the like; empty unless `partly_unread`.
[[nodiscard]] std::string as_far_as_read(const Trial& trial);

/// Reports that a trial has no step: StepNotYetAvailable, or NoMoreData once the job has ended; StepUnavailable if
/// `partly_unread`.
void report_no_step(const Trial& trial, Diagnostics& messages, ExitStatus status = ExitStatus::no);

/// The names that -n -e -c -x select among the tensors of the steps read, in byte order. Reports, with status 1, exact
/// names that the trial does not have (TensorUnavailable with the nearest three, after reading the rest of the trial)
/// and collections that it does not define (NotFound). -m narrows to tensors saved in one of the modes.
/// @throws UsageError for a bad pattern.
[[nodiscard]] std::vector<std::string> select_tensors(Trial& trial, const SelectionOptions& options,
                                                      Diagnostics& messages);

/// The query of -n -e -c -x, with names that the trial may not have, and only the collections that it defines; nullopt
/// if nothing else was asked for, since an empty query would mean all tensors.
[[nodiscard]] std::optional<TensorQuery> tensor_query(const Trial& trial, const SelectionOptions& options);

/// The tensors that -n -e -c -x select among those saved at a step, or at any, in the mode asked for if it is one; in
/// byte order. Reports nothing.
[[nodiscard]] std::vector<std::string> tensors_at(const Trial& trial, const SelectionOptions& options,
                                                  const std::optional<GlobalStep>& step);

/// `collection 'x' is not defined`, and the nearest collections that are, else all.
[[nodiscard]] std::string undefined_collection(std::string_view name, const Trial& trial);

/// Ends of messages about a step that is not there: `; nearest: 5 and 10` of ascending numbers, and `; there is a step
/// 7 in mode train` for modes of the trial other than the one asked for. Empty if there is nothing to add.
[[nodiscard]] std::string nearest_steps(std::span<const std::int64_t> numbers, std::int64_t wanted);
[[nodiscard]] std::string modes_that_have(const Trial& trial, Mode asked, std::int64_t number);

/// Whether the trial has a tensor. If the steps read so far do not show it, reads the rest; if the trial has none,
/// reports TensorUnavailable with the nearest three names, status 1.
[[nodiscard]] bool require_tensor(Trial& trial, std::string_view name, Diagnostics& messages);

/// Whether -w names a worker that the trial has (or none in particular); if not: InvalidWorker with the names,
/// status 1.
[[nodiscard]] bool check_worker(const Trial& trial, const SelectionOptions& options, Diagnostics& messages);

/// Reports that no saved tensor is among those asked for, unless something was reported before; status 1. With a trial,
/// use `nothing_selected.hpp`, which explains why.
void say_nothing_selected(Diagnostics& messages);
/// The same for the steps of a trial; `select_steps` and `follow_trials` report it. `saved`: the steps saved, if known.
void say_no_step_selected(std::string_view trial, Diagnostics& messages, std::string_view saved = {});

/// An EntryQuery for these tensors and steps, with the options' worker choice (default: first by name).
[[nodiscard]] EntryQuery entry_query(const SelectionOptions& options, std::vector<std::string> tensors,
                                     std::span<const SelectedStep> steps);

/// `train`, `eval`, `predict`, `global`: as messages and captions name modes, and as -m takes them. Rows name them as
/// the trial stores them: `smd::to_string`.
[[nodiscard]] std::string_view mode_text(Mode mode) noexcept;

/// What may be grouped by, in every command that groups.
inline constexpr std::array<std::string_view, 3> by_words = {"tensor", "step", "worker"};

/// What rows are grouped by; the rest is pooled.
struct By {
  bool tensor = true;
  bool step = true;
  bool worker = true;
  bool row = false;  ///< The index on the first axis; only with the tensor.

  bool operator==(const By&) const = default;

  /// The value of --by, which must have been given, of these words. @throws UsageError.
  static By from(const CommandLine& line, std::span<const std::string_view> words = by_words);
};

/// --by.
inline constexpr OptionSpec by_option = {
    .short_name = 'b',
    .name = "by",
    .metavar = "LIST",
    .help = "of tensor,step,worker: a row for each; what is left out is pooled as one array (default: all three)",
    .group = group::view,
    .kind = ArgumentKind::text,
    .split_commas = true,
    .choices = by_words};

}  // namespace smd::tool
