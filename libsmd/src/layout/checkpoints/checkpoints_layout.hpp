// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/layout.hpp"

#include <memory>
#include <string>

namespace smd::detail::layout {

/// The layout of folders of safetensors files: each checkpoint is a step, each file of it a part of that.
///
/// `place`: the name of the place, which may tell a step. `file`: the name of the only file that counts, whatever lies
/// beside it; empty: all of the place.
[[nodiscard]] std::unique_ptr<Layout> checkpoints_layout(std::string place, std::string file = {});

}  // namespace smd::detail::layout
