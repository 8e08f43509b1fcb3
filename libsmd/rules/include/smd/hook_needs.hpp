// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/export.hpp>
#include <smd/hook_config.hpp>
#include <smd/rule_config.hpp>

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

/// Makes a hook configuration from rules. A program that uses this links libsmd-rules and libsmd-hook, which do not
/// depend on each other.
namespace smd {

namespace detail {

/// What libsmd-hook knows of collections.
struct HookKnowledge {
  /// Returns the collections of a hook's configuration in JSON; `where` names the text in messages. Throws
  /// InvalidArgument.
  std::function<std::vector<Collection>(const std::string& json, const std::string& where)> parse;
  /// Returns whether some framework has a built-in collection of that name.
  std::function<bool(const std::string& name)> is_built_in;
};

/// Returns the collections that rules need, rule by rule; `job`: the job's own collections.
[[nodiscard]] SMD_EXPORT std::vector<Collection> collections_for(std::span<const RuleConfiguration> rules,
                                                                 const std::vector<Collection>& job,
                                                                 const HookKnowledge& hook);

}  // namespace detail

/// Returns the hook configuration that saves what rules need, and no more: reductions if they suffice, and only in the
/// modes that the rules look at. The CollectionConfigurations beside a rule are saved too, as they stand, unless they
/// name a collection that is not built in and has no members; those of a rule that is evaluated elsewhere are its
/// needs. The place, the steps and the members of collections come from `job`, the job's own configuration;
/// CollectionConfigurations beside a rule override it. A built-in collection is saved whole. If there is nothing to
/// save, `enabled` is false.
/// @throws ConfigurationError for a rule that cannot be evaluated as it is configured, a collection without names and
/// patterns that is not built in, and a plug-in's rule that declares no needs.
[[nodiscard]] inline HookConfig hook_config_for(std::span<const RuleConfiguration> rules, const HookConfig& job = {}) {
  const detail::HookKnowledge hook{
      [](const std::string& json, const std::string& where) { return HookConfig::parse(json, where).collections; },
      is_built_in_collection};
  HookConfig config;
  config.out_dir = job.out_dir;
  config.framework = job.framework;
  config.save_config = job.save_config;
  for (Collection& need : detail::collections_for(rules, job.collections, hook)) {
    config.add_collection(std::move(need));
  }
  config.enabled = !config.collections.empty();
  return config;
}

}  // namespace smd
