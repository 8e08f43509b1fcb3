// SPDX-License-Identifier: Apache-2.0
#include <smd/rule_registry.hpp>

#include "built_in/builtin.hpp"
#include "text/escape.hpp"
#include "text/nearest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <mutex>
#include <set>
#include <string_view>
#include <utility>

namespace smd {

namespace {

/// All rules. Filled with the built-in ones at first use.
class Registry {
 public:
  static Registry& instance() {
    static Registry registry;
    return registry;
  }

  void add(RuleDescription description) {
    const std::lock_guard lock(mutex_);
    for (const std::string& name : {description.name, description.alias}) {
      if (known(name) != nullptr) {
        throw InvalidArgument(fmt::format("there is a rule '{}' already", detail::printable(name)));
      }
    }
    rules_.push_back(std::move(description));
  }

  [[nodiscard]] std::vector<RuleDescription> all() const {
    const std::lock_guard lock(mutex_);
    return {rules_.begin(), rules_.end()};
  }

  /// Returns null if no rule has that name or alias.
  [[nodiscard]] const RuleDescription* find(std::string_view name_or_alias) const {
    const std::lock_guard lock(mutex_);
    return known(name_or_alias);
  }

 private:
  [[nodiscard]] const RuleDescription* known(std::string_view name) const {
    const auto rule = std::find_if(rules_.begin(), rules_.end(),
                                   [&](const RuleDescription& one) { return one.name == name || one.alias == name; });
    return name.empty() || rule == rules_.end() ? nullptr : &*rule;
  }

  Registry() {
#define SMD_ADD_RULE(name) rules_.emplace_back(detail::rules::name##_rule()).alias = #name;
    SMD_BUILTIN_RULES(SMD_ADD_RULE)
#undef SMD_ADD_RULE
  }

  mutable std::mutex mutex_;
  std::deque<RuleDescription> rules_;  ///< Only grows, so that pointers to rules stay valid.
};

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
  if (const RuleDescription* const rule = Registry::instance().find(name_or_alias)) {
    return *rule;
  }
  const std::vector<RuleDescription> all = rule_descriptions();
  std::vector<std::string_view> names;
  names.reserve(2 * all.size());
  for (const RuleDescription& rule : all) {
    names.push_back(rule.name);
  }
  for (const RuleDescription& rule : all) {
    if (!rule.alias.empty()) {
      names.push_back(rule.alias);
    }
  }
  const std::vector<std::string> nearest = detail::nearest(name_or_alias, names, 1);
  throw ConfigurationError(ConfigurationErrorKind::unknown_rule,
                           fmt::format("no rule '{}'{}", detail::printable(name_or_alias),
                                       nearest.empty() ? "; smd-rule --list shows all of them"
                                                       : fmt::format("; did you mean {}?", nearest.front())),
                           {}, nearest.empty() ? std::string() : nearest.front());
}

}  // namespace

void register_rule(RuleDescription description) {
  check(description);
  Registry::instance().add(std::move(description));
}

std::vector<RuleDescription> rule_descriptions() { return Registry::instance().all(); }

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
