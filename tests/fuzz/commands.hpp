// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/app.hpp"

#include <memory>
#include <string_view>

namespace smd::fuzz {

/// One of the commands, by any number.
std::unique_ptr<tool::Command> make_command(unsigned number);

/// The command of this name, which must be one.
std::unique_ptr<tool::Command> make_command(std::string_view name);

}  // namespace smd::fuzz
