// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "cli/option_spec.hpp"

namespace smd::tool {

/// -q -v --progress --no-progress, and -h --version: `run_command` itself obeys them.
struct MessageOptions {
  static constexpr auto options =
      in_group(group::messages,
               {
                   flag('q', "quiet", "print nothing but errors; see the exit status"),
                   flag('v', "verbose", "say more; twice: for debugging").repeatable(),
                   flag(no_letter, "progress", "show progress even if standard error is no terminal"),
                   flag(no_letter, "no-progress", "never show progress"),
                   flag('h', "help", "explain every option; -h: print their names, on one screen").under(group::other),
                   flag(no_letter, "version", "print the version and what is built in").under(group::other),
               });
  static std::span<const OptionSpec> table() noexcept { return options; }
};

}  // namespace smd::tool
