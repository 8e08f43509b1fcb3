// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/diagnostics.hpp"
#include "name_mapping.hpp"
#include "options.hpp"
#include "select/saved_forms.hpp"
#include "select/select.hpp"

#include <smd/trial.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smd::tool::diff {

/// One of the two trials, and what is selected of it.
struct ComparedTrial {
  Trial& trial;
  std::string name;  ///< As given.
  SelectionOptions options;
  Selection selection = {};
  NameMapping names = {};
  bool several_workers = false;  ///< At whatever steps.
};

/// A step of A and the step of B that it is compared with. If tensors have steps of their own, one of the two may be
/// missing.
struct PairedStep {
  std::optional<SelectedStep> a;
  std::optional<SelectedStep> b;
  /// As they are compared, in byte order; nullopt: all selected tensors.
  std::optional<std::vector<std::string>> tensors;

  [[nodiscard]] GlobalStep place() const noexcept { return a ? a->step : b->step; }
};

/// Returns the steps to compare, ascending by A's step (B's, if A's is missing). Reports, with status 1, what cannot be
/// compared, and notes which steps of one trial have no partner.
/// @throws UsageError if --steps-b chooses another number of steps than -s.
[[nodiscard]] std::vector<PairedStep> pair_steps(const ComparedTrial& a, const ComparedTrial& b,
                                                 const DiffCommandOptions& options, Diagnostics& messages);

/// What was saved of one tensor at one step by one worker, in both trials or in one.
struct PairedEntry {
  std::optional<TensorEntry> a;
  std::optional<TensorEntry> b;
  std::optional<GlobalStep> step;  ///< Of the pair of steps, even if the trial lacks the tensor.
  std::optional<GlobalStep> step_b;
  std::string_view tensor;  ///< The name by which the two are compared; borrowed from the trials.

  /// A's worker, or B's if A has no entry. The two have the same name if all workers were selected or each trial has
  /// several: then it is the first that saved the tensor in both. Else each is its trial's first.
  [[nodiscard]] std::string_view worker() const noexcept { return a ? a->worker : b->worker; }
  [[nodiscard]] GlobalStep place() const noexcept { return step ? *step : *step_b; }
};

/// Whether something of the tensor was saved at the step: its value, its shape or reductions.
[[nodiscard]] bool has_content(const TensorEntry& entry);

/// Some of the tensors: those from `first` up to `end`, in byte order. Nullopt: no bound.
struct NameRange {
  std::optional<std::string> first;
  std::optional<std::string> end;
};

/// Returns ranges that have no more tensors each than can be held at once.
[[nodiscard]] std::vector<NameRange> name_ranges(const ComparedTrial& a, const ComparedTrial& b);

/// Pairs the entries of steps that are at the same place, ordered by tensor, then worker.
[[nodiscard]] std::vector<PairedEntry> pair_entries(const ComparedTrial& a, const ComparedTrial& b,
                                                    std::span<const PairedStep> steps, const NameRange& names);

}  // namespace smd::tool::diff
