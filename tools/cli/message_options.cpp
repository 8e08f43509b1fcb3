// SPDX-License-Identifier: Apache-2.0
#include "cli/message_options.hpp"

#include <array>

namespace smd::tool {

namespace {

constexpr std::array<OptionSpec, 6> message_table = {{
    {.short_name = 'q',
     .name = "quiet",
     .help = "print nothing but errors; see the exit status",
     .group = group::messages},
    {.short_name = 'v',
     .name = "verbose",
     .help = "say more; twice: for debugging",
     .group = group::messages,
     .repeat = Repeat::adds_up},
    {.name = "progress", .help = "show progress even if standard error is no terminal", .group = group::messages},
    {.name = "no-progress", .help = "never show progress", .group = group::messages},
    {.short_name = 'h',
     .name = "help",
     .help = "explain every option; -h: print their names, on one screen",
     .group = group::other},
    {.name = "version", .help = "print the version and what is built in", .group = group::other},
}};

}  // namespace

std::span<const OptionSpec> MessageOptions::table() noexcept { return message_table; }

MessageOptions MessageOptions::from(const CommandLine& line) {
  MessageOptions options;
  options.quiet = line.has("quiet");
  options.verbosity = static_cast<unsigned>(line.count("verbose"));
  if (const GivenOption* last = line.last_of({"progress", "no-progress"})) {
    options.progress = last->spec->name == "progress";
  }
  return options;
}

}  // namespace smd::tool
