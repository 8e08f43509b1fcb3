// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"

#include <algorithm>
#include <array>

#include "smd_commands.hpp"
#include "target.hpp"

namespace smd::fuzz {

namespace {

#define SMD_COMMAND(name, command) command,
constexpr auto commands = std::to_array<tool::Command>({SMD_COMMANDS(SMD_COMMAND)});
#undef SMD_COMMAND

}  // namespace

const tool::Command& command_of(unsigned number) { return commands[number % commands.size()]; }

const tool::Command& command_of(std::string_view name) {
  const auto* const found = std::find_if(commands.begin(), commands.end(), [&](const tool::Command& command) {
    return command.definition().name == name;
  });
  SMD_REQUIRE(found != commands.end());
  return *found;
}

}  // namespace smd::fuzz
