// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/hook_config.hpp>

#include <span>
#include <string_view>

namespace smd::detail::hook {

/// Collections that a framework's hook saves without being asked for.
[[nodiscard]] std::span<const std::string_view> collections_always_saved(Framework framework) noexcept;

/// Collections that are not saved in `EVAL` and `PREDICT`.
[[nodiscard]] bool is_training_only(std::string_view name) noexcept;

}  // namespace smd::detail::hook
