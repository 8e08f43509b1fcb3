// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/layout.hpp"

#include <memory>

namespace smd::detail::layout {

/// Returns the layout of TensorBoard log directories: folders of event files, each a run, whose records hold
/// everything.
[[nodiscard]] std::unique_ptr<Layout> tensorboard_layout();

}  // namespace smd::detail::layout
