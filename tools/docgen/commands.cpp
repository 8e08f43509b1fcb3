// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"

#include "smd_commands.hpp"

namespace smd::docgen {

namespace {

template <class Command>
const tool::CommandDefinition* definition_of() {
  static const Command command;
  return &command.definition();
}

}  // namespace

std::vector<const tool::CommandDefinition*> commands() {
#define SMD_DEFINITION(type) definition_of<type>(),
  return {SMD_COMMANDS(SMD_DEFINITION)};
#undef SMD_DEFINITION
}

}  // namespace smd::docgen
