// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/trial.hpp>
#include <string>
#include <vector>

#include "options.hpp"
#include "value_selection.hpp"
#include "value_view.hpp"

namespace smd::tool::tensor {

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
