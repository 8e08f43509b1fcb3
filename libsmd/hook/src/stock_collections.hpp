// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/hook_config.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smd::detail::hook {

/// Returns the collections that a framework's hook always saves.
[[nodiscard]] std::span<const std::string_view> collections_always_saved(Framework framework) noexcept;

/// Returns all patterns, possibly none, that frameworks have for a built-in collection; nullopt if no framework has it.
[[nodiscard]] std::optional<std::vector<std::string>> patterns_in_any_framework(std::string_view name);

/// Returns whether a collection is not saved in `EVAL` and `PREDICT`.
[[nodiscard]] bool is_training_only(std::string_view name) noexcept;

}  // namespace smd::detail::hook
