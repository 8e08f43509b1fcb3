// SPDX-License-Identifier: Apache-2.0
// A command by the first byte and its arguments, parted by newlines: parses them and sets the command up, which touches
// no file.
#include <smd/error.hpp>

#include "commands.hpp"
#include "require.hpp"
#include "source.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

using namespace smd;
using namespace smd::tool;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Source source(data, size);
  const auto command = fuzz::make_command(source.number());
  std::vector<std::string> arguments;
  while (!source.empty()) {
    // As the system hands them over: no NUL.
    arguments.emplace_back(source.piece("\n"));
    arguments.back().resize(std::strlen(arguments.back().c_str()));
  }
  try {
    const CommandLine line = CommandLine::parse(command->definition(), arguments);
    // Which need no operands, and are answered without a set-up.
    if (!line.has("help") && !line.has("version")) {
      command->setup(line);
    }
  } catch (const UsageError& error) {
    SMD_REQUIRE(std::strlen(error.what()) != 0);
  } catch (const InvalidArgument& error) {
    SMD_REQUIRE(std::strlen(error.what()) != 0);
  } catch (const MatchLimit& error) {
    SMD_REQUIRE(std::strlen(error.what()) != 0);
  }
  return 0;
}
