// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "cli/command_definition.hpp"

namespace smd::docgen {

/// The commands that are documented, in the order in which they are introduced.
[[nodiscard]] std::vector<const tool::CommandDefinition*> commands();

}  // namespace smd::docgen
