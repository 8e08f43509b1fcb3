// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/layout_kind.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace smd::detail::layout {

/// Returns the layout of run files of the W&B SDK: all that a run logged, in one file for each time that it ran.
[[nodiscard]] std::unique_ptr<Layout> wandb_layout(const Opening& what = {});

/// `LayoutKind::holds`: a run file in the folder itself, or in the folders in it, if all of these are of one run.
[[nodiscard]] std::optional<Held> holds_runs_of_wandb(FolderWalk& folder);

/// `LayoutKind::holds_file`
[[nodiscard]] bool is_wandb_file(const Opening& what, std::span<const std::byte> first);

}  // namespace smd::detail::layout
