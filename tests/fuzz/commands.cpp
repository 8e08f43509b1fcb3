// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"

#include <array>

#include "smd_commands.hpp"
#include "target.hpp"

namespace smd::fuzz {

namespace {

template <class Command>
std::unique_ptr<tool::Command> make() {
  return std::make_unique<Command>();
}

#define SMD_MAKER(name, type) &make<type>,
constexpr auto makers = std::to_array<std::unique_ptr<tool::Command> (*)()>({SMD_COMMANDS(SMD_MAKER)});
#undef SMD_MAKER

}  // namespace

std::unique_ptr<tool::Command> make_command(unsigned number) { return makers[number % makers.size()](); }

std::unique_ptr<tool::Command> make_command(std::string_view name) {
  for (const auto& maker : makers) {
    if (auto command = maker(); command->definition().name == name) {
      return command;
    }
  }
  SMD_REQUIRE(!"the name of a command");
  return nullptr;
}

}  // namespace smd::fuzz
