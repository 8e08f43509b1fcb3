// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace smd::detail::reduce {

/// `l1` of `l1_norm`; any other name is itself.
[[nodiscard]] std::string plain_reduction_name(std::string_view name);

/// Whether a plain name is one of those that a job may save.
[[nodiscard]] bool can_be_saved(std::string_view plain) noexcept;

/// Names as the reference writes and reads them in a collections file, and in its order: reductions, norms, then those
/// of absolute values. Medians are left out: the reference refuses a trial whose configuration has one.
[[nodiscard]] std::string reference_reduction_list(const std::vector<std::string>& names);

}  // namespace smd::detail::reduce
