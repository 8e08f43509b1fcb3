// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/layout.hpp"
#include "storage/storage.hpp"

#include <memory>
#include <string_view>

namespace smd::detail::layout {

/// Returns the layout of docs/format.md: collections, index and event files.
[[nodiscard]] std::unique_ptr<Layout> debugger_layout();

/// The folder of a job's output that holds the debugger trial, unless the output itself does.
inline constexpr std::string_view inner_folder = "debug-output";

/// Returns whether the root has a folder of index files.
[[nodiscard]] bool holds_index_files(storage::Storage& storage);

/// Returns whether the root itself holds a part of a debugger trial.
[[nodiscard]] bool holds_debugger_trial(storage::Storage& storage);

}  // namespace smd::detail::layout
