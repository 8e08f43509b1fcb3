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

/// Reads step files that are out of range, only to see who wrote them.
using Probe = std::function<layout::LoadedSteps(std::span<const layout::StepPart>)>;

/// Finds up to which step all workers have written: fills `all_wrote`, `waiting`, `undecided`, `passed` and
/// `last_complete`. `touched`: steps of which files were listed or read since the snapshot that this one began as;
/// nothing if it began as none. `window`: how many steps may lack a worker before the oldest of them count as complete.
void find_last_complete(Snapshot& snapshot, std::optional<std::vector<std::int64_t>> touched, std::size_t window,
                        const Probe& probe);

/// How many of the oldest of `waiting` incomplete steps count as complete because too many are: while more than
/// `window` are left, window/2 of them (docs/format.md).
[[nodiscard]] std::size_t given_up(std::size_t waiting, std::size_t window) noexcept;

/// Says so if fewer workers have a collections file than the job said would save, or if it said nonsense. `place`:
/// where the layout has collections files.
[[nodiscard]] std::optional<Problem> missing_collections_files(const Snapshot& snapshot, std::string_view place);

}  // namespace smd::detail::trial
