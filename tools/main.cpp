// SPDX-License-Identifier: Apache-2.0
// The program of one command, or of all of them: then the name by which it is called, or its first argument, says which
// one runs.
#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>

#include "smd_commands.hpp"

namespace {

struct Entry {
  std::string_view name;
  smd::tool::Command command;
};

#define SMD_ENTRY(name, command) Entry{name, command},
constexpr auto entries = std::to_array<Entry>({SMD_COMMANDS(SMD_ENTRY)});
#undef SMD_ENTRY

}  // namespace

int main(int argc, char** argv) {
  if constexpr (entries.size() == 1) {
    return run_command(entries.front().command, argc, argv);
  }
  // A link is called `smd-ls`; a script that cannot choose that name calls `smd-tools smd-ls`.
  for (int at = 0; at < std::min(argc, 2); ++at) {
    std::string_view name = argv[at];
    name.remove_prefix(name.rfind('/') + 1);
    for (const Entry& entry : entries) {
      if (entry.name == name) {
        return run_command(entry.command, argc - at, argv + at);
      }
    }
  }
  std::fputs("this program is called by the name of a command, of which it has links:", stderr);
  for (const Entry& entry : entries) {
    std::fprintf(stderr, " %s", entry.name.data());
  }
  std::fputs("\n", stderr);
  return 2;
}
