// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/app.hpp"

#include <memory>

namespace smd::fuzz {

/// One of the commands, by any number.
std::unique_ptr<tool::Command> make_command(unsigned number);

}  // namespace smd::fuzz
