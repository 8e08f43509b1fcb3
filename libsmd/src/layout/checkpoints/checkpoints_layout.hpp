// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/layout.hpp"

#include <memory>
#include <string>

namespace smd::detail::layout {

/// Returns the layout of folders of safetensors files: each checkpoint is a step, each of its files a part of the step.
///
/// `place`: the name of the place, which may have a step. `file`: the name of the only file that counts; empty: all
/// files of the place.
[[nodiscard]] std::unique_ptr<Layout> checkpoints_layout(std::string place, std::string file = {});

}  // namespace smd::detail::layout
