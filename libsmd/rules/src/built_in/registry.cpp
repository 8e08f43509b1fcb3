// SPDX-License-Identifier: Apache-2.0
#include <smd/rule_registry.hpp>

#include "built_in/builtin.hpp"
#include "text/escape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <mutex>
#include <set>
#include <utility>

namespace smd {

namespace {

/// All rules. Filled with the built-in ones at first use.
struct Registry {
  Registry() {
#define SMD_ADD_RULE(name) rules.emplace_back(detail::rules::name##_rule()).alias = #name;
    SMD_BUILTIN_RULES(SMD_ADD_RULE)
#undef SMD_ADD_RULE
  }

  /// Returns null if no rule has that name or alias.
  [[nodiscard]] const RuleDescription* find(std::string_view name) const {
    const auto rule =
        std::ranges::find_if(rules, [&](const RuleDescription& one) { return one.name == name || one.alias == name; });
    return name.empty() || rule == rules.end() ? nullptr : &*rule;
  }

  std::mutex mutex;                   ///< Guards `rules`.
  std::deque<RuleDescription> rules;  ///< Only grows, so that pointers to rules stay valid.
};

Registry& registry() {
  static Registry registry;
  return registry;
}

void check(const RuleDescription& description) {
  const auto refuse = [&](std::string_view why) {
    throw InvalidArgument(fmt::format("rule '{}' {}", detail::printable(description.name), why));
  };
  if (description.name.empty()) {
    refuse("has no name");
  }
  if (!description.create) {
    refuse("has no function that makes it");
  }
  std::set<std::string> names;
  for (const ParameterSpec& spec : description.parameters) {
    if (spec.name.empty() || !names.insert(spec.name).second) {
      refuse("has a parameter without a name, or two of one name");
    }
    if (spec.default_text) {
      ParameterSpec alone = spec;
      alone.other_name.clear();
      try {
        static_cast<void>(Parameters(std::span(&alone, 1), {}));
      } catch (const ConfigurationError& error) {
        refuse(fmt::format("has a default that does not parse: {}", error.what()));
      }
    }
  }
}

/// @throws ConfigurationError: no rule has that name or alias
const RuleDescription& known_rule(std::string_view name_or_alias) {
  {
    const std::lock_guard lock(registry().mutex);
    if (const RuleDescription* const rule = registry().find(name_or_alias)) {
      return *rule;
    }
  }
  const std::vector<RuleDescription> all = rule_descriptions();
  std::vector<std::string_view> names;
  for (const auto word : {&RuleDescription::name, &RuleDescription::alias}) {
    for (const RuleDescription& rule : all) {
      if (!(rule.*word).empty()) {
        names.push_back(rule.*word);
      }
    }
  }
  throw detail::rules::unknown_word(ConfigurationErrorKind::unknown_rule,
                                    fmt::format("no rule '{}'", detail::printable(name_or_alias)), name_or_alias, names,
                                    "smd-rules(7) lists all of them", {});
}

}  // namespace

void register_rule(RuleDescription description) {
  check(description);
  const std::lock_guard lock(registry().mutex);
  for (const std::string& name : {description.name, description.alias}) {
    if (registry().find(name) != nullptr) {
      throw InvalidArgument(fmt::format("there is a rule '{}' already", detail::printable(name)));
    }
  }
  registry().rules.push_back(std::move(description));
}

std::vector<RuleDescription> rule_descriptions() {
  const std::lock_guard lock(registry().mutex);
  return {registry().rules.begin(), registry().rules.end()};
}

RuleDescription describe_rule(std::string_view name_or_alias) { return known_rule(name_or_alias); }

std::vector<ParameterSpec> common_parameters() {
  return {
      {.name = "base_trial", .help = "accepted, not used: the trial is an argument"},
      {.name = "rule_to_invoke", .help = "accepted, not used"},
      {.name = "action_json", .help = "accepted, not performed"},
      {.name = "start_step", .type = ParameterType::integer, .help = "first global step to evaluate", .at_least = 0},
      {.name = "end_step", .type = ParameterType::integer, .help = "global step to stop before", .at_least = 0},
  };
}

std::unique_ptr<Rule> make_rule(std::string_view name_or_alias, const ParameterTexts& parameters) {
  const RuleDescription& description = known_rule(name_or_alias);
  std::unique_ptr<Rule> rule = description.create(Parameters(description.parameters, parameters));
  if (!rule) {
    throw InvalidArgument(fmt::format("rule '{}' was not made", detail::printable(description.name)));
  }
  rule->set_name(description.name);
  return rule;
}

}  // namespace smd
