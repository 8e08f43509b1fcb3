// SPDX-License-Identifier: Apache-2.0
#include "command_definition.hpp"

namespace smd::tool {

std::vector<const OptionSpec*> CommandDefinition::options() const {
  std::vector<const OptionSpec*> result;
  for (const std::span<const OptionSpec> table : option_tables) {
    for (const OptionSpec& spec : table) {
      result.push_back(&spec);
    }
  }
  return result;
}

const OptionSpec* CommandDefinition::find(std::string_view long_name) const noexcept {
  for (const std::span<const OptionSpec> table : option_tables) {
    for (const OptionSpec& spec : table) {
      if (spec.name == long_name) {
        return &spec;
      }
    }
  }
  return nullptr;
}

}  // namespace smd::tool
