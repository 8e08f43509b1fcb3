// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app.hpp"

#include <string_view>

namespace smd::fuzz {

/// Returns one of the commands, for any number.
const tool::Command& command_of(unsigned number);

/// Returns the command with this name. Precondition: it exists.
const tool::Command& command_of(std::string_view name);

}  // namespace smd::fuzz
