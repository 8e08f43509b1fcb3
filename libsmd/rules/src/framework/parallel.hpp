// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>

namespace smd::detail::rules {

/// Returns the number of CPUs that this process may use, at least 1.
[[nodiscard]] unsigned usable_cpus() noexcept;

/// Calls `work(i)` for each i below `count`, from at most `threads` threads, including the caller's; from fewer if the
/// system refuses a thread. The first exception ends the loop early and is rethrown.
void parallel_for_each(unsigned threads, std::size_t count, const std::function<void(std::size_t)>& work);

}  // namespace smd::detail::rules
