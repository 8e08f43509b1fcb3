// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "text/json.hpp"

namespace smd::tool::save {

/// Parses JSON as Python's `json` writes it: where a number may stand, so may bare `NaN`, `Infinity` and `-Infinity`.
/// Of keys that repeat the last one counts. @throws InvalidValue: what is wrong, at which byte (from 0).
[[nodiscard]] text::JsonDocument<nlohmann::json> parse_json(std::string_view text);

}  // namespace smd::tool::save
