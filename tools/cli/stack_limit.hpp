// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace smd::tool {

/// Stack that every command gets along with, KiB. Little more than what its threads use: the library recurses no deeper
/// than its limits allow.
inline constexpr unsigned least_stack_kib = 256;

/// Sees to it that this thread, and those started later, have so much stack. False if the system's hard limit is lower.
[[nodiscard]] bool provide_stack() noexcept;

}  // namespace smd::tool
