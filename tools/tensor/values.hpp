// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/trial.hpp>

#include "options.hpp"
#include "value_view.hpp"

namespace smd::tool::tensor {

/// The part of the trial to read at first; more is read if needed.
[[nodiscard]] StepRange range_to_open(const TensorOptions& options);

/// Selects values, reads them, and passes them to the view in the documented order. Reports what is missing. Returns
/// whether the view has shown anything and was finished.
bool show_values(Trial& trial, const TensorOptions& options, ValueView& view, Diagnostics& messages);

/// --follow: as `show_values`, as steps complete, until the job ends.
bool follow_values(const TensorOptions& options, OutputFile& out, Diagnostics& messages);

}  // namespace smd::tool::tensor
