// SPDX-License-Identifier: Apache-2.0
#include <smd/hook_needs.hpp>

#include <smd/rule_registry.hpp>

#include "text/escape.hpp"
#include "text/mapped.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace smd {

namespace {

using Collections = std::vector<Collection>;

std::string placed(const RuleConfiguration& rule, const std::string& text) {
  return rule.position.empty() ? text : rule.position + ": " + text;
}

/// Returns the collections that the document has beside a rule.
Collections beside(const RuleConfiguration& rule, const detail::HookKnowledge& hook) {
  if (rule.collection_configurations.empty()) {
    return {};
  }
  try {
    return hook.parse("{\"CollectionConfigurations\": " + rule.collection_configurations + "}",
                      rule.position.empty() ? detail::printable(rule.name) : rule.position);
  } catch (const InvalidArgument& error) {
    throw ConfigurationError(ConfigurationErrorKind::bad_value, error.what(), "CollectionConfigurations");
  }
}

Collections needs_of(const RuleConfiguration& rule, const Collections& own) {
  try {
    static_cast<void>(make_rule(rule));
  } catch (const ConfigurationError& error) {
    if (!evaluated_elsewhere(error.kind)) {
      throw;
    }
    return own;  // only the document says what the rule needs
  }
  const RuleDescription description = describe_rule(rule.rule_to_invoke);
  if (description.saves) {
    return description.saves(Parameters(description.parameters, rule.parameters));
  }
  if (own.empty()) {
    throw ConfigurationError(
        ConfigurationErrorKind::bad_config,
        placed(rule, fmt::format("rule {} does not say what must be saved for it, and has no CollectionConfigurations",
                                 detail::printable(description.name))));
  }
  return own;
}

bool has_members(const Collection& collection) {
  return !collection.include_regex.empty() || !collection.tensor_names.empty();
}

/// Returns the collection of that name; null if the list does not have it.
const Collection* named(std::span<const Collection> collections, const std::string& name) {
  const auto at = std::ranges::find(collections, name, &Collection::name);
  return at == collections.end() ? nullptr : &*at;
}

/// Adds the members of the configured collection with that name, and its steps for modes that the rule does not
/// restrict. Returns false if there is no such collection.
bool define(Collection& need, const Collections& known) {
  const Collection* const at = named(known, need.name);
  if (at == nullptr) {
    return false;
  }
  for (const std::string& pattern : at->include_regex) {
    detail::add_once(need.include_regex, pattern);
  }
  need.tensor_names = at->tensor_names;
  need.save_config.insert(at->save_config.begin(), at->save_config.end());
  return true;
}

}  // namespace

std::vector<Collection> detail::collections_for(std::span<const RuleConfiguration> rules,
                                                const std::vector<Collection>& job, const HookKnowledge& hook) {
  Collections all;
  for (const RuleConfiguration& rule : rules) {
    const Collections own = beside(rule, hook);
    const std::size_t first = all.size();
    for (Collection& need : needs_of(rule, own)) {
      if (!define(need, own)) {
        define(need, job);
      }
      if (!has_members(need) && !hook.is_built_in(need.name)) {
        throw ConfigurationError(
            ConfigurationErrorKind::missing_parameter,
            placed(rule, fmt::format("collection '{}' is not built in, and no CollectionConfigurations say which "
                                     "tensors it has; give them, or tensor_regex",
                                     printable(need.name))),
            "collection_names");
      }
      all.push_back(std::move(need));
    }
    for (const Collection& extra : own) {
      // A hook refuses a configured collection without members.
      if (!named(std::span(all).subspan(first), extra.name) && (has_members(extra) || hook.is_built_in(extra.name))) {
        all.push_back(extra);
      }
    }
  }
  return all;
}

}  // namespace smd
