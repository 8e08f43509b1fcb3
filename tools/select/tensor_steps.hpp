// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <smd/trial.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/diagnostics.hpp"
#include "select/selection.hpp"

namespace smd::tool {

/// The steps selected of several tensors.
struct TensorSteps {
  std::vector<SelectedStep> steps;  ///< All at which some tensor is wanted, ascending.
  /// By tensor, ascending; empty: `steps` applies to all.
  std::map<std::string, std::vector<GlobalStep>, std::less<>> own;

  [[nodiscard]] bool wants(std::string_view tensor, GlobalStep step) const;
  /// Adds a tensor's own steps. Call `sort` afterwards.
  void add(const std::string& tensor, std::span<const SelectedStep> chosen);
  void sort();
};

/// Which entries make a step one of the tensor's own: those with a value, say.
using EntryFilter = std::function<bool(const TensorEntry&)>;

/// Whether a SPEC has steps that are counted from an end (`first`, `last`, negative numbers): in commands that print
/// values or statistics these count each tensor's own steps.
[[nodiscard]] bool counts_from_end(const StepSpec& spec) noexcept;
[[nodiscard]] bool counts_from_end(const StepTerm& term) noexcept;

/// What to read at first if each tensor's own steps count: as `range_to_read`, but everything if only a pattern or a
/// collection determines the tensors.
[[nodiscard]] StepRange range_to_read_of_tensors(const SelectionOptions& options, const StepSpec& spec);

/// The steps of `tensors` that the options choose (`options.steps`, else `fallback`), if the SPEC counts from an end:
/// each tensor's own in each mode asked for, of the worker asked for. Reads more of the trial if needed. Reports what
/// is missing, with status 1: a step given by its number as `select_steps` does; a count that goes beyond the steps of
/// some tensors once for all of them. Tensors that `counts` finds at no step have none, and are not reported.
/// @pre counts_from_end of the SPEC; `tensors` in byte order.
[[nodiscard]] TensorSteps select_steps_of_tensors(Trial& trial, const SelectionOptions& options,
                                                  const StepSpec& fallback, std::span<const std::string> tensors,
                                                  const EntryFilter& counts, Diagnostics& messages);

/// The same for only the terms of a SPEC that count from an end. Reports nothing.
[[nodiscard]] TensorSteps own_steps_from_end(Trial& trial, const SelectionOptions& options, const StepSpec& spec,
                                             std::span<const std::string> tensors, const EntryFilter& counts);

}  // namespace smd::tool
