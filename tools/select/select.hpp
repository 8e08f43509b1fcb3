// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <smd/trial.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/diagnostics.hpp"
#include "operands/reading_options.hpp"
#include "select/select_steps.hpp"

namespace smd::tool {

/// What a command asks of a selection beside the options.
struct SelectionNeeds {
  /// The steps without -s.
  StepSpec fallback = {};
  /// Which entries make a step one of a tensor's own: `first`, `last` and negative numbers then count each tensor's
  /// own steps. Empty: they count the steps of the trial.
  EntryFilter counts = {};
  /// False: a list that would hold everything may stay empty, which `Selection::every_step` and `every_tensor` say.
  bool lists = true;
  /// Tensors of -n choose among their own steps whatever the SPEC, those of entries that count; of a step given by its
  /// number, any entry counts. What is missing is reported for each.
  bool own_steps_of_names = false;
};

/// What the selection options select of one trial.
struct Selection {
  std::vector<std::string> tensors = {};  ///< In byte order. Not all of them need have been saved at the steps.
  std::vector<std::string> named = {};    ///< The tensors that chose by `SelectionNeeds::own_steps_of_names`.
  TensorSteps steps = {};
  Arrivals arrivals = {};     ///< Of a followed trial whose steps grow: only what a row has not shown yet.
  bool every_tensor = false;  ///< Nothing narrows the tensors; `tensors` is empty.
  bool every_step = false;    ///< No known step is left out; `steps` is empty.
  bool every_worker = true;   ///< No worker was named.
  bool every_claim = true;    ///< At no selected step does a worker claim another mode than the one asked for.

  [[nodiscard]] bool empty() const noexcept {
    return (tensors.empty() && !every_tensor) || (steps.steps.empty() && !every_step);
  }
  /// Whether some entries of the selected steps are left out.
  [[nodiscard]] bool narrows_entries() const noexcept {
    return !every_tensor || !every_worker || !every_claim || arrivals != Arrivals();
  }
  [[nodiscard]] bool everything() const noexcept { return every_step && !narrows_entries(); }
};

/// Resolves the options against a trial, and reads more of the trial if that is needed. Reports what is missing, with
/// status 1; the selection then holds the rest, which may be empty.
/// @throws UsageError for a bad pattern.
[[nodiscard]] Selection select(Trial& trial, const SelectionOptions& options, const SelectionNeeds& needs,
                               Diagnostics& messages);

/// What is selected at one step of a followed trial. Reports nothing.
[[nodiscard]] Selection select_at(const Trial& trial, const SelectionOptions& options, const SelectionNeeds& needs,
                                  const SelectedStep& step);

/// The values of the selected tensors that later ones superseded: step and tensor of each, in order. `fallback`: the
/// steps without -s; numbers from an end mean any.
[[nodiscard]] std::vector<std::pair<std::int64_t, std::string>> superseded_entries(const Trial& trial,
                                                                                   const SelectionOptions& options,
                                                                                   const StepSpec& fallback);
/// Says, once for a trial, how many values of how many of the selected tensors later ones superseded, and which option
/// shows them; with -v also of which tensors. Nothing if they are shown. `fallback`: as above. `about`: what the text
/// begins with.
void note_superseded(const Trial& trial, const SelectionOptions& options, const StepSpec& fallback,
                     const ReadingOptions& reading, Diagnostics& messages, const std::string& about = {});
/// Returns that note.
[[nodiscard]] std::string superseded_note(std::uint64_t values, std::size_t tensors);
/// With -v: of which tensors how many values were superseded.
void say_superseded(const std::map<std::string, std::uint64_t>& counts, Diagnostics& messages);

/// Returns which steps of these modes that `spec` chooses wait for a worker: `steps 6 to 299 are not complete (worker_1
/// has not written them)`; see `TrialSnapshot::incomplete_text`.
[[nodiscard]] std::string incomplete_steps(const Trial& trial, const std::vector<Mode>& modes = {Mode::global},
                                           const StepSpec& spec = {});
/// Notes them, unless nothing is selected, whose reason was reported, or steps are counted from an end. `fallback`: the
/// steps without -s.
void note_incomplete(const Trial& trial, const Selection& selection, const SelectionOptions& options,
                     const StepSpec& fallback, Diagnostics& messages);

/// An EntryQuery for these tensors and steps, with the options' worker choice (default: first by name).
[[nodiscard]] EntryQuery entry_query(const SelectionOptions& options, std::vector<std::string> tensors,
                                     std::span<const SelectedStep> steps);
/// The entries of a selection, with the same choice. @pre The selection is not empty.
[[nodiscard]] EntryQuery entry_query(const SelectionOptions& options, const Selection& selection);
/// The same of all workers, unless one was named.
[[nodiscard]] EntryQuery query_for(const Selection& selection, const SelectionOptions& options);

}  // namespace smd::tool
