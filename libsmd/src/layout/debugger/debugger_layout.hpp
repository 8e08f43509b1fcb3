// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/layout_kind.hpp"

#include <memory>
#include <optional>

namespace smd::detail::layout {

/// Returns the layout of docs/format.md: collections, index and event files.
[[nodiscard]] std::unique_ptr<Layout> debugger_layout(const Opening& what = {});

/// `LayoutKind::holds`: whether the folder has collections, index files, folders of steps in `events`, or the end
/// marker.
[[nodiscard]] std::optional<Held> holds_debugger_trial(FolderWalk& folder);

}  // namespace smd::detail::layout
