// SPDX-License-Identifier: Apache-2.0
#include "cli/command_definition.hpp"

#include <algorithm>

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

std::vector<OptionGroup> CommandDefinition::groups() const {
  std::vector<OptionGroup> groups;
  for (const OptionSpec* spec : options()) {
    if (spec->hidden) {
      continue;
    }
    auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& one) { return one.title == spec->group; });
    if (group == groups.end()) {
      group = groups.insert(group, {spec->group, {}});
    }
    group->options.push_back(spec);
  }
  return groups;
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

std::string CommandDefinition::words_beside(std::string_view text, const OptionSpec& spec) const {
  std::span<const std::string_view> words;
  if (spec.kind == ArgumentKind::format) {
    words = formats;
  } else if (spec.kind == ArgumentKind::choice) {
    words = spec.choices;
  }
  std::string list;
  bool named = true;
  for (const std::string_view word : words) {
    named = named && text.find(word) != std::string_view::npos;
    list += list.empty() ? "" : ", ";
    list += word;
  }
  return named ? std::string() : list;
}

}  // namespace smd::tool
