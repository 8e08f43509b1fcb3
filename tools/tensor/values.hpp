// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/diagnostics.hpp"
#include "cli/output_file.hpp"
#include "options.hpp"

namespace smd::tool::tensor {

/// Selects the values of trials, one after the other or, with --follow, as steps complete, and shows them in the
/// documented order. Reports what is missing.
/// Returns whether the output holds what was asked for, or the part of it that could be read.
bool show_values(const std::vector<std::string>& trials, const TensorOptions& options, OutputFile& out,
                 Diagnostics& messages);

}  // namespace smd::tool::tensor
