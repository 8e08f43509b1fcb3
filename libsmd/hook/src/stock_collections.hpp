// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/hook_config.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace smd::detail::hook {

/// Returns the collections that a framework's hook always saves: losses, metrics and sm_metrics, as far as the
/// framework has them.
[[nodiscard]] std::vector<std::string> collections_always_saved(Framework framework);

/// Returns all patterns that frameworks have for a collection.
[[nodiscard]] std::vector<std::string> patterns_in_any_framework(std::string_view name);

/// Returns the name of a built-in collection of any framework that is similar to an unknown one; empty if none is.
[[nodiscard]] std::vector<std::string> similar_collection(std::string_view name);

/// Returns whether a configuration does not say what is saved: no collection, no pattern, not `save_all`.
[[nodiscard]] bool selects_nothing(const HookConfig& config) noexcept;

}  // namespace smd::detail::hook
