// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/trial.hpp>

#include "options.hpp"
#include "value_view.hpp"

namespace smd::tool::tensor {

/// What of the trial to read at first; the rest is read by need.
[[nodiscard]] StepRange range_to_open(const TensorOptions& options);

/// Selects values, reads them, and hands them to the view in the promised order. Says what of the things asked for is
/// not there. Returns whether the view has shown anything and was finished.
bool show_values(Trial& trial, const TensorOptions& options, ValueView& view, Diagnostics& messages);

/// --follow: shows values as steps complete, until the job ends. Likewise.
bool follow_values(const TensorOptions& options, OutputFile& out, Diagnostics& messages);

}  // namespace smd::tool::tensor
