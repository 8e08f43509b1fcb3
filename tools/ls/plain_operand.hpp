// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "cli/diagnostics.hpp"

namespace smd::tool::ls {

/// Does `work` on an operand that is not opened as a trial: an exception of the library is reported with its status and
/// ends only this operand.
/// @param hint as for `fail_to_open`.
void with_plain_operand(const std::string& operand, Diagnostics& messages, const std::function<void()>& work,
                        std::string_view hint = {});

}  // namespace smd::tool::ls
