// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/step.hpp>
#include <span>
#include <string>
#include <vector>

namespace smd::tool::ls {

/// `train`, `eval`, …
[[nodiscard]] std::vector<std::string> mode_texts(std::span<const Mode> modes);

/// For tables: as many items as fit a column of sensible width, then how many more there are: `a,b,+7`.
[[nodiscard]] std::string abridged(std::span<const std::string> items);

/// For tables: `2023-11-14 22:13:20Z`.
[[nodiscard]] std::string date_text(double seconds_since_1970);

}  // namespace smd::tool::ls
