// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <smd/trial.hpp>
#include <span>
#include <string>
#include <vector>

#include "cli/diagnostics.hpp"
#include "select/selection.hpp"

namespace smd::tool::ls {

/// What the selection options choose of one trial.
struct Choice {
  bool every_step = false;           ///< No known step is left out; `steps` is then empty.
  std::vector<GlobalStep> steps;     ///< Ascending.
  bool every_tensor = false;         ///< Nothing names tensors; `tensors` is then empty.
  std::vector<std::string> tensors;  ///< Byte order. Not all of them need have been saved at the steps.
  bool every_worker = false;         ///< No worker was named.
  bool every_claim = true;           ///< At no chosen step does a worker claim another mode than the one asked for.

  /// Whether some entries of the chosen steps are left out.
  [[nodiscard]] bool narrows_entries() const noexcept { return !every_tensor || !every_worker || !every_claim; }
  /// All that is there.
  [[nodiscard]] bool everything() const noexcept { return every_step && !narrows_entries(); }
};

/// What the options choose. Says what cannot be had. Nothing if no step or no tensor is chosen.
[[nodiscard]] std::optional<Choice> choose(Trial& trial, const SelectionOptions& options, Diagnostics& messages);

/// An EntryQuery for a choice. Precondition: it chooses something.
[[nodiscard]] EntryQuery query_for(const Choice& choice, const SelectionOptions& options);

/// The chosen tensors that were saved at the chosen steps by the chosen workers, in byte order. Says which of those
/// asked for by name were not.
[[nodiscard]] std::vector<std::string> saved_names(Trial& trial, const Choice& choice, const SelectionOptions& options,
                                                   Diagnostics& messages);

/// One row per chosen step at which something chosen was saved, ascending; `tensors`, `workers` and `bytes` count what
/// was chosen.
[[nodiscard]] std::vector<StepInfo> saved_steps(const Trial& trial, const Choice& choice,
                                                const SelectionOptions& options);

/// Whether all workers that wrote these steps claim the mode asked for, if it is one.
[[nodiscard]] bool every_claim_fits(const Trial& trial, std::span<const GlobalStep> steps,
                                    const SelectionOptions& options);

/// Makes rows of these steps, ascending, have their numbers in the mode asked for, if it is one, and count only what
/// was chosen; drops those with nothing of it.
void narrow(std::vector<StepInfo>& infos, const Trial& trial, const Choice& choice, const SelectionOptions& options);

/// Sum of the lengths of an entry's records.
[[nodiscard]] std::uint64_t record_bytes(const TensorEntry& entry) noexcept;

}  // namespace smd::tool::ls
