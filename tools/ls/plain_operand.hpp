// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "cli/diagnostics.hpp"

namespace smd::tool::ls {

/// For operands that are not opened as trials: whatever the library throws in `work` is reported with its status and
/// costs only this operand.
/// @param hint as of `fail_to_open`.
void with_plain_operand(const std::string& operand, Diagnostics& messages, const std::function<void()>& work,
                        std::string_view hint = {});

}  // namespace smd::tool::ls
