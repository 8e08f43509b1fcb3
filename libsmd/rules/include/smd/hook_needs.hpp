// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/export.hpp>
#include <smd/hook_config.hpp>
#include <smd/rule_config.hpp>

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// From rules to what must be saved for them. A program that uses this links both libsmd-rules and libsmd-hook, which
/// do not know each other.
namespace smd {

namespace detail {

/// What libsmd-hook knows of collections.
struct HookKnowledge {
  /// The collections of a hook's configuration in JSON; `where` names the text in messages. Throws InvalidArgument.
  std::function<std::vector<CollectionConfig>(const std::string& json, const std::string& where)> parse;
  /// Whether some framework has a built-in collection of that name.
  std::function<bool(const std::string& name)> is_built_in;
};

/// The collections that rules need, one after another; `job` are the job's own.
[[nodiscard]] SMD_EXPORT std::vector<CollectionConfig> collections_for(std::span<const RuleConfiguration> rules,
                                                                       const std::vector<CollectionConfig>& job,
                                                                       const HookKnowledge& hook);

}  // namespace detail

/// The hook configuration that saves what rules need, and no more: reductions where they suffice, and only in the modes
/// that are looked at. For a rule that is evaluated elsewhere, the CollectionConfigurations that stand beside it. Of
/// `job`, the job's own configuration, come the place, the steps, and the members of collections that rules name; steps
/// that stand beside a rule win. Without anything to save `enabled` is false.
/// @throws ConfigurationError for a rule that cannot be evaluated as it is configured, a collection of which nothing
/// says what it has, and a plug-in's rule of which nothing says what it needs.
[[nodiscard]] inline HookConfig hook_config_for(std::span<const RuleConfiguration> rules, const HookConfig& job = {}) {
  const detail::HookKnowledge hook{
      [](const std::string& json, const std::string& where) { return HookConfig::parse(json, where).collections; },
      [](const std::string& name) {
        for (const Framework framework :
             {Framework::pytorch, Framework::tensorflow, Framework::mxnet, Framework::xgboost}) {
          if (stock_collections(framework).contains(name)) {
            return true;
          }
        }
        return false;
      }};
  HookConfig config;
  config.out_dir = job.out_dir;
  config.framework = job.framework;
  config.save_config = job.save_config;
  for (CollectionConfig& need : detail::collections_for(rules, job.collections, hook)) {
    config.add_collection(std::move(need));
  }
  config.enabled = !config.collections.empty();
  return config;
}

}  // namespace smd
