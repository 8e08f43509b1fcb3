// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/export.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>

namespace smd {

/// Returns the number of CPUs that this process may use; at least 1.
[[nodiscard]] SMD_EXPORT unsigned usable_cpus() noexcept;

/// A loop whose work is done by several threads, and whose results are taken in order.
struct ParallelLoop {
  std::size_t count = 0;
  unsigned jobs = 1;       ///< Threads, including the calling one; fewer if the system refuses one.
  std::size_t window = 0;  ///< The most indexes that are in work or wait to be taken; 0: four for each thread.

  /// Returns the number of slots that the loop uses.
  [[nodiscard]] std::size_t slots() const noexcept {
    return std::max<std::size_t>(1, std::min(count, jobs <= 1 ? 1 : window == 0 ? std::size_t{jobs} * 4 : window));
  }
};

/// What a call of such a loop is for.
struct LoopIndex {
  std::size_t index = 0;  ///< Below `ParallelLoop::count`.
  std::size_t slot = 0;   ///< Below `ParallelLoop::slots`. No other index that is in work or waits has the same.
  unsigned worker = 0;    ///< Below `ParallelLoop::jobs`. A worker does one work at a time; 0 is the calling thread.
};

/// Calls `work` for each index, in several threads, and `take` for each whose work is done, in order, in the calling
/// thread, which works too while there is nothing to take. Results are left in an array of `slots()`, whose memory is
/// so used again. Ends early when `take` returns false. If `take` is empty, only waits for the end of all work. The
/// first exception ends the loop and is rethrown.
SMD_EXPORT void parallel_for_each(const ParallelLoop& loop, const std::function<void(const LoopIndex&)>& work,
                                  const std::function<bool(const LoopIndex&)>& take = {});

}  // namespace smd
