// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/diagnostics.hpp"
#include "select/select_steps.hpp"

#include <smd/trial.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace smd::tool {

// Why something that was asked for is not there: what commands say of empty selections, and of steps and values that
// are missing. Each `report_` and `say_` raises status 1, if nothing else is said.

/// ` in mode train`; empty for `global`.
[[nodiscard]] std::string in_the_mode(Mode mode);
/// `step`, or `train step`.
[[nodiscard]] std::string kind_of_step(Mode mode);

/// Reports that a trial has no step: StepNotYetAvailable, or NoMoreData once the job has ended; StepUnavailable if
/// `partly_unread`.
void report_no_step(const Trial& trial, Diagnostics& messages, ExitStatus status = ExitStatus::no);

/// Reports that a request of the trial or of one tensor has nothing to choose from in a mode: the mode was not saved
/// (names those that were), or the tensor not in this mode. Call it when everything was read.
void say_no_step_in(Mode mode, const Trial& trial, const StepRequest& request, Diagnostics& messages);

/// Reports that a single step of such a request was not saved (StepUnavailable, StepNotYetAvailable, NoMoreData or
/// TensorUnavailableForStep), with the nearest saved steps and the mode in which that number does exist.
void say_missing(Mode mode, const StepTerm& term, Trial& trial, const StepRequest& request, Diagnostics& messages);

/// Reports that tensors have too few steps for a term that counts from an end.
void say_fewer_steps(Mode mode, const StepTerm& term, std::span<const std::string> tensors, std::size_t steps_of_first,
                     Diagnostics& messages);

/// Reports that such a request chooses no step; of a tensor, if ranges alone were asked for, where it was saved.
/// `told`: it was reported which steps are missing.
void say_no_step_chosen(Trial& trial, const StepRequest& request, bool told, Diagnostics& messages);

/// Reports what a tensor has in place of a value at a step, or at any, or which workers saved it.
void say_no_value(const Trial& trial, const SelectionOptions& options, const std::string& tensor,
                  const std::optional<GlobalStep>& step, Diagnostics& messages);

/// Notes that a mode step was saved more than once: the first global step with its number is used.
void note_repeated(const Trial& trial, const SelectedStep& step, Diagnostics& messages);

/// Notes that the job repeated mode steps after `last`, the global step of the mode's highest step, if such a repeat is
/// in `own`. `own`: the global steps to choose from, ascending.
void note_saved_since(const Trial& trial, Mode mode, GlobalStep last, std::span<const GlobalStep> own,
                      Diagnostics& messages);

/// Why a selection holds nothing.
struct NothingSelected {
  std::string_view tag;
  std::string text;
};

/// Explains, with numbers: which patterns match nothing, and the nearest names; or how many tensors match, and at which
/// steps, in which modes and by which workers they were saved. Reads the rest of the trial.
/// @throws InvalidArgument, MatchLimit as `Trial::tensor_names`.
[[nodiscard]] NothingSelected why_nothing(Trial& trial, const SelectionOptions& options);

/// Reports it, unless something was reported before. With -q, where only the status matters, nothing is read. Without a
/// trial, only that no saved tensor is among those asked for.
void say_nothing_selected(Trial* trial, const SelectionOptions& options, Diagnostics& messages);
/// Reports that no step of a trial is among those asked for. `saved`: the steps saved, if known.
void say_no_step_selected(std::string_view trial, Diagnostics& messages, std::string_view saved = {});

/// `9 steps, 0 to 38 (train: 6 steps, 0 to 25; eval: 3 steps, 0 to 10)`: steps by their global numbers, then by those
/// of the modes; `6 steps, 0 to 31 (train 0 to 25)` if one mode has all. Of all steps of the trial, complete or not:
/// reads the rest of it. Empty if there are none.
[[nodiscard]] std::string all_steps_and_modes(Trial& trial);

/// Whether part of a trial could not be read (access, disk or store): then what seems missing may exist.
[[nodiscard]] bool partly_unread(const Trial& trial);
/// Text to follow `was not saved` and the like; empty unless `partly_unread`.
[[nodiscard]] std::string as_far_as_read(const Trial& trial);

/// Whether steps of one of the modes can come; if the trial's layout has no modes and none is `global`, reports
/// StepUnavailable. For trials that are waited for; for others, `choose_steps` reports it.
[[nodiscard]] bool check_modes(const Trial& trial, std::span<const Mode> modes, Diagnostics& messages);

/// `collection 'x' is not defined`, and the nearest collections that are, else all.
[[nodiscard]] std::string undefined_collection(std::string_view name, const Trial& trial);

/// Ends of messages about a step that is not there: `; nearest: 5 and 10` of ascending numbers, and `; there is a step
/// 7 in mode train` for modes of the trial other than the one asked for, in which `request`, if any, has that step to
/// choose from. Empty if there is nothing to add.
[[nodiscard]] std::string nearest_steps(std::span<const std::int64_t> numbers, std::int64_t wanted);
[[nodiscard]] std::string modes_that_have(const Trial& trial, Mode asked, std::int64_t number,
                                          const StepRequest* request = nullptr);

}  // namespace smd::tool
