// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace smd::detail::hook {

/// Returns `l1` for `l1_norm`, and so on; returns any other name unchanged.
[[nodiscard]] std::string plain_reduction_name(std::string_view name);

/// Returns whether a plain name is one that a job may save.
[[nodiscard]] bool can_be_saved(std::string_view plain) noexcept;

/// Returns names as the reference writes and reads them in a collections file, in its order: reductions, norms, then
/// those of absolute values. Omits medians: the reference refuses a trial whose configuration has one.
[[nodiscard]] std::string reference_reduction_list(const std::vector<std::string>& names);

}  // namespace smd::detail::hook
