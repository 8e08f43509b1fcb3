// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace smd::text {

/// Returns whether a single number of that name is a loss.
[[nodiscard]] bool is_loss_name(std::string_view name);

}  // namespace smd::text
