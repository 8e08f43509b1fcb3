// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_definition.hpp"

#include <span>
#include <string>
#include <string_view>

namespace smd::tool {

/// What a command has in place of an option that other programs have, as `; try --jsonl`. `tried` is the option with
/// its dashes (`--where`, `-R`). Empty if nothing is known, or nothing fits this command.
[[nodiscard]] std::string option_hint(const CommandDefinition& definition, std::string_view tried);

/// Which of `words` was meant by one that is not among them, as `; did you mean 'mean'?`: other programs' words
/// (`avg`), else those that are spelt alike. Empty if nothing is known.
[[nodiscard]] std::string word_hint(std::string_view tried, std::span<const std::string_view> words);

/// `'avg' is not one of min, max, mean; did you mean 'mean'?` Every option with a closed set of words refuses others by
/// this.
[[nodiscard]] std::string not_one_of(std::string_view tried, std::span<const std::string_view> words);

/// For a local path that does not exist, but joins the names of a trial and of a tensor: a clause that says so and
/// leaves out the path. Empty for others.
[[nodiscard]] std::string trial_and_tensor(const std::string& path);

}  // namespace smd::tool
