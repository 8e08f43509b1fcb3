// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "cli/command_definition.hpp"

namespace smd::tool {

/// What a command has in place of an option that other programs have, as `; try --jsonl`. `tried` is the option with
/// its dashes (`--where`, `-R`). Empty if nothing is known, or nothing fits this command.
[[nodiscard]] std::string option_hint(const CommandDefinition& definition, std::string_view tried);

}  // namespace smd::tool
