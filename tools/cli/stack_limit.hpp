// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace smd::tool {

/// Stack that suffices for every command, in KiB. Little more than what its threads use: the library recurses no deeper
/// than its limits allow.
inline constexpr unsigned least_stack_kib = 256;

/// Gives this thread, and those started later, that much stack. False if the system's hard limit is lower.
[[nodiscard]] bool provide_stack() noexcept;

}  // namespace smd::tool
