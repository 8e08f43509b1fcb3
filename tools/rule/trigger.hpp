// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/diagnostics.hpp"
#include "record.hpp"

namespace smd::tool::rule {

/// Runs `sh -c command` for a finding: the record as JSON on its standard input, the finding in its environment. What
/// it prints goes to standard error, so that results stay whole. Waits for it. A failure is a warning.
void run_on_trigger(const std::string& command, const Record& finding, Diagnostics& messages);

}  // namespace smd::tool::rule
