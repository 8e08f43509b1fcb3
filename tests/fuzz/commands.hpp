// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app.hpp"

#include <memory>
#include <string_view>

namespace smd::fuzz {

/// Returns one of the commands, for any number.
std::unique_ptr<tool::Command> make_command(unsigned number);

/// Returns the command with this name. Precondition: it exists.
std::unique_ptr<tool::Command> make_command(std::string_view name);

}  // namespace smd::fuzz
