// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trial/snapshot.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace smd::detail::trial {

/// Reads step files that are out of range, to find which workers wrote them.
using Probe = std::function<layout::LoadedSteps(std::span<const layout::StepPart>)>;

/// Finds up to which step all workers have written: sets `all_wrote`, `waiting`, `undecided`, `passed` and
/// `last_complete`. `touched`: steps of which files were listed or read since the previous snapshot; nullopt if this
/// snapshot does not continue one. `window`: how many steps may lack a worker before the oldest count as complete.
void find_last_complete(Snapshot& snapshot, std::optional<std::vector<std::int64_t>> touched, std::size_t window,
                        const Probe& probe);

/// Sorts steps, which mostly ascend, and leaves each once.
void sort_each_once(std::vector<std::int64_t>& steps);

/// Returns how many of the oldest of `waiting` incomplete steps count as complete because there are too many: window/2
/// at a time, until at most `window` are left (docs/format.md).
[[nodiscard]] std::size_t given_up(std::size_t waiting, std::size_t window) noexcept;

/// Returns a warning if fewer workers have a collections file than the job stated, or if that number is not positive.
/// `place`: the layout's folder of collections files.
[[nodiscard]] std::optional<Problem> missing_collections_files(const Snapshot& snapshot, std::string_view place);

}  // namespace smd::detail::trial
