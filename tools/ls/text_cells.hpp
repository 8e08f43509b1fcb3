// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/step.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rows/cell.hpp"

namespace smd::tool::ls {

/// In place of a shape or element type that differs over steps or workers.
inline constexpr std::string_view varies = "varies";

/// `train`, `eval`, …
[[nodiscard]] std::vector<std::string> mode_texts(std::span<const Mode> modes);

/// `Column::show` of lists: as many items as fit a column of sensible width, then how many more there are: `a,b,+7`.
void show_abridged(std::string& out, const Cell& cell, int precision);

}  // namespace smd::tool::ls
