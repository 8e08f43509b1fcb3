// SPDX-License-Identifier: Apache-2.0
#include "cli/message_options.hpp"

namespace smd::tool {

namespace {

constexpr auto message_table =
    in_group(group::messages,
             {
                 flag('q', "quiet", "print nothing but errors; see the exit status"),
                 flag('v', "verbose", "say more; twice: for debugging").repeatable(),
                 flag(no_letter, "progress", "show progress even if standard error is no terminal"),
                 flag(no_letter, "no-progress", "never show progress"),
                 flag('h', "help", "explain every option; -h: print their names, on one screen").under(group::other),
                 flag(no_letter, "version", "print the version and what is built in").under(group::other),
             });

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
