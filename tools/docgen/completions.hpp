// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/command_definition.hpp"

namespace smd::docgen {

using Definitions = std::vector<const tool::CommandDefinition*>;

/// Returns the file for bash, for all commands: the template with its slots filled.
[[nodiscard]] std::string bash_completion(const Definitions& commands, std::string_view page);
/// Returns the file for zsh, for all commands.
[[nodiscard]] std::string zsh_completion(const Definitions& commands, std::string_view page);
/// Returns the fish functions that all commands share, and the file of one command.
[[nodiscard]] std::string fish_functions(const Definitions& commands, std::string_view page);
[[nodiscard]] std::string fish_completion(const tool::CommandDefinition& definition);

}  // namespace smd::docgen
