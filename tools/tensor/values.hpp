// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <smd/trial.hpp>
#include <string>
#include <vector>

#include "options.hpp"
#include "select/saved_forms.hpp"
#include "select/select.hpp"
#include "value_view.hpp"

namespace smd::tool::tensor {

/// What is selected of a trial, and what was found of it.
struct ValueSelection : Selection {
  /// Of `named`: the steps at which there is a value.
  std::map<std::string, std::vector<GlobalStep>, std::less<>> found = {};
  /// Selected by patterns, but saved without values.
  std::map<std::string, SavedForms, std::less<>> without_values = {};
};

/// The default of `--step`: `last`, but all for `--spark`, `--pivot` and for the curves of `-f svg`.
[[nodiscard]] StepSpec default_steps(const TensorOptions& options);

/// Resolves names, patterns and steps. Reports what is missing, with status 1.
[[nodiscard]] ValueSelection select_values(Trial& trial, const TensorOptions& options, Diagnostics& messages);

/// The part of the trial to read at first; more is read if needed.
[[nodiscard]] StepRange range_to_open(const TensorOptions& options);

/// Announces the values that are selected to the view.
void announce_values(const Trial& trial, const TensorOptions& options, ValueSelection& selection, ValueView& view,
                     Diagnostics& messages);

/// Reads the values that are selected, and passes them to the view in the documented order. Reports what is missing.
/// Returns whether anything was shown.
bool show_values(Trial& trial, const TensorOptions& options, ValueSelection& selection, ValueView& view,
                 Diagnostics& messages);

/// --follow: selects and shows values as steps complete, until the jobs end. Returns whether the output holds what was
/// asked for, and the view was finished.
bool follow_values(const std::vector<std::string>& trials, const TensorOptions& options, OutputFile& out,
                   Diagnostics& messages);

}  // namespace smd::tool::tensor
