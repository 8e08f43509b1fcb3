// SPDX-License-Identifier: Apache-2.0
#include "cli/command_definition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace smd::tool {

std::vector<const OptionSpec*> CommandDefinition::options() const {
  std::vector<const OptionSpec*> result;
  for (const std::span<const OptionSpec> table : option_tables) {
    std::ranges::transform(table, std::back_inserter(result), [](const OptionSpec& spec) { return &spec; });
  }
  return result;
}

std::vector<OptionGroup> CommandDefinition::groups() const {
  std::vector<OptionGroup> groups;
  for (const OptionSpec* spec : options()) {
    auto group = std::ranges::find_if(groups, [&](const auto& one) { return one.title == spec->group; });
    if (group == groups.end()) {
      group = groups.insert(group, {spec->group, {}});
    }
    group->options.push_back(spec);
  }
  return groups;
}

const OptionSpec* CommandDefinition::find(std::string_view long_name) const {
  const std::vector<const OptionSpec*> all = options();
  const auto found = std::ranges::find_if(all, [&](const auto* spec) { return spec->name == long_name; });
  return found == all.end() ? nullptr : *found;
}

std::span<const std::string_view> CommandDefinition::choices_of(const OptionSpec& spec) const noexcept {
  return spec.kind == ArgumentKind::format   ? formats
         : spec.kind == ArgumentKind::choice ? spec.choices
                                             : std::span<const std::string_view>();
}

std::string CommandDefinition::words_beside(std::string_view text, const OptionSpec& spec) const {
  const std::span<const std::string_view> words = choices_of(spec);
  const bool named = std::ranges::all_of(words, [&](auto word) { return text.find(word) != text.npos; });
  return named ? std::string() : fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace smd::tool
