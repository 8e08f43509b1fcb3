// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/layout_kind.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

namespace smd::detail::layout {

/// Returns the layout of folders of safetensors files and files of PyTorch: each checkpoint is a step, each of its
/// files a part of the step.
[[nodiscard]] std::unique_ptr<Layout> checkpoints_layout(const Opening& what);

/// `LayoutKind::holds`: files of checkpoints in the folder itself, or in folders in it whose names have a step, an
/// epoch or a label.
[[nodiscard]] std::optional<Held> holds_checkpoints(FolderWalk& folder);

/// `LayoutKind::holds_file`: by its header, or if it has none, by its name.
[[nodiscard]] bool is_tensor_file(const Opening& what, std::span<const std::byte> first);

}  // namespace smd::detail::layout
