// SPDX-License-Identifier: Apache-2.0
// The first byte selects a command; the rest is its arguments, separated by newlines. Parses them and sets the command
// up, which accesses no file.
#include <smd/error.hpp>

#include "commands.hpp"
#include "source.hpp"
#include "target.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

using namespace smd;
using namespace smd::tool;

SMD_FUZZ_ENTRY(command_line)(const std::uint8_t* data, std::size_t size) {
  fuzz::Source source(data, size);
  const Command& command = fuzz::command_of(source.number());
  std::vector<std::string> arguments;
  while (!source.empty()) {
    // As the system passes them: without NUL.
    arguments.emplace_back(source.piece("\n"));
    arguments.back().resize(std::strlen(arguments.back().c_str()));
  }
  try {
    const CommandLine line = CommandLine::parse(command.definition(), arguments);
    // These need no operands and no set-up.
    if (!line.has("help") && !line.has("version")) {
      (void)command.setup(line);
    }
  } catch (const UsageError& error) {
    SMD_REQUIRE(std::strlen(error.what()) != 0);
  } catch (const InvalidArgument& error) {
    SMD_REQUIRE(std::strlen(error.what()) != 0);
  }
  return 0;
}
