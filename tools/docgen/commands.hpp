// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "cli/command_definition.hpp"

namespace smd::docgen {

/// Returns the documented commands, in the order of the manual.
[[nodiscard]] std::vector<const tool::CommandDefinition*> commands();

}  // namespace smd::docgen
