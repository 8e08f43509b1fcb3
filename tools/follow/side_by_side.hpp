// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>

#include "cli/interruption.hpp"

namespace smd::tool {

/// Calls `visit` with each number below `count`, all at once, each in a thread of its own; a single one in the
/// caller's. The first exception, or failure to start a thread, requests a stop of `interruption`, so that the others
/// end too, and is thrown when they have.
void side_by_side(std::size_t count, Interruption& interruption, const std::function<void(std::size_t)>& visit);

}  // namespace smd::tool
