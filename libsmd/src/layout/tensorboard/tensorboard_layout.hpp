// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/layout_kind.hpp"

#include <memory>
#include <optional>

namespace smd::detail::layout {

/// Returns the layout of TensorBoard log directories: folders of event files, each a run, whose records hold
/// everything.
[[nodiscard]] std::unique_ptr<Layout> tensorboard_layout(const Opening& what = {});

/// `LayoutKind::holds`: event files in the folder itself, with which the trial has all runs below; or in folders in it
/// that are sides of one run.
[[nodiscard]] std::optional<Held> holds_log_directory(FolderWalk& folder);

}  // namespace smd::detail::layout
