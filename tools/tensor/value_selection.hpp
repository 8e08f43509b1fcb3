// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <smd/trial.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cli/diagnostics.hpp"
#include "options.hpp"
#include "select/select.hpp"

namespace smd::tool::tensor {

/// The steps of a tensor that was named on the command line; what is missing of them is reported.
struct NamedTensor {
  std::vector<SelectedStep> chosen;
  std::vector<GlobalStep> found;  ///< Those of them at which there is a value.
};

/// What was saved of a value instead of it. Of an empty histogram there are no reductions.
enum class SavedForm : std::uint8_t { shape, histogram, reductions };
[[nodiscard]] SavedForm form_of(const TensorEntry& entry);

/// Which values are asked for.
struct ValueSelection {
  std::vector<std::string> tensors;  ///< In byte order.
  TensorSteps steps;
  bool every_step = false;  ///< In place of `steps`: all at which they have values.
  Arrivals arrivals = {};   ///< As `Selection::arrivals`.
  std::map<std::string, NamedTensor, std::less<>> named;
  /// Selected by patterns, but saved without values: in which form, the most that any entry has.
  std::map<std::string, SavedForm, std::less<>> without_values;

  [[nodiscard]] bool empty() const noexcept { return tensors.empty() || (steps.steps.empty() && !every_step); }
};

/// The default of `--step`: `last`, but all for `--spark`, `--pivot` and for the curves of `-f svg`.
[[nodiscard]] StepSpec default_steps(const TensorOptions& options);

/// What the view shows of an entry: its value; with --hist, if it has none, its saved buckets. Null if nothing.
[[nodiscard]] const Place* shown_of(const TensorOptions& options, const TensorEntry& entry) noexcept;

/// `first`, `last` and negative numbers count the steps at which a tensor has what is shown of it. Borrows `options`.
[[nodiscard]] SelectionNeeds selection_needs(const TensorOptions& options);

/// Resolves names, patterns and steps. Reports what is missing, with status 1.
[[nodiscard]] ValueSelection select_values(Trial& trial, const TensorOptions& options, Diagnostics& messages);

/// Reports what of the named tensors was not found, and why. Call it after all entries were seen.
void report_missing(const Trial& trial, const TensorOptions& options, const ValueSelection& selection,
                    Diagnostics& messages);

}  // namespace smd::tool::tensor
