// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/parallel.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace smd::detail {

/// Returns the number of CPUs that this process may use; at least 1.
[[nodiscard]] unsigned default_jobs() noexcept;

/// `smd::parallel_for_each`, for all libraries.
void run_in_parallel(const ParallelLoop& loop, const std::function<void(const LoopIndex&)>& work,
                     const std::function<bool(const LoopIndex&)>& take = {});

/// Calls `f(begin, end, worker)` for pieces of at most `grain` that together cover [0, count).
template <class F>
void parallel_for(unsigned jobs, std::size_t count, std::size_t grain, F&& f) {
  grain = std::max<std::size_t>(jobs <= 1 ? count : grain, 1);
  const std::size_t pieces = count / grain + (count % grain != 0 ? 1 : 0);
  run_in_parallel({.count = pieces, .jobs = jobs}, [&](const LoopIndex& at) {
    const std::size_t begin = at.index * grain;
    f(begin, begin + std::min(grain, count - begin), at.worker);
  });
}

/// Calls `produce(index, worker)` in parallel, and `consume(index, value&&)` with its results, in order. At most
/// `window` values are in progress or waiting (at least `jobs`).
template <class Produce, class Consume>
void parallel_ordered(unsigned jobs, std::size_t count, std::size_t window, Produce&& produce, Consume&& consume) {
  const ParallelLoop loop = {.count = count, .jobs = jobs, .window = std::max<std::size_t>(window, jobs)};
  std::vector<std::optional<std::decay_t<decltype(produce(std::size_t{0}, 0U))>>> values(loop.slots());
  run_in_parallel(
      loop, [&](const LoopIndex& at) { values[at.slot].emplace(produce(at.index, at.worker)); },
      [&](const LoopIndex& at) {
        auto value = *std::exchange(values[at.slot], std::nullopt);
        return consume(at.index, std::move(value));
      });
}

}  // namespace smd::detail
