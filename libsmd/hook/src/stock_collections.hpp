// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/hook_config.hpp>

#include <span>
#include <string_view>

namespace smd::detail::hook {

/// The collections that a framework's hook always saves.
[[nodiscard]] std::span<const std::string_view> collections_always_saved(Framework framework) noexcept;

/// Whether it is a collection that is not saved in the modes eval and predict.
[[nodiscard]] bool is_training_only(std::string_view name) noexcept;

}  // namespace smd::detail::hook
