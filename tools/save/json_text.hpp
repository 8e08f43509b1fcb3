// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "text/json.hpp"

namespace smd::tool::save {

/// Parses JSON as Python's `json` writes it: numbers may be `NaN`, `Infinity` and `-Infinity`, without quotes. Of
/// repeated keys the last one counts. @throws InvalidValue, which says what is wrong and at which byte (from 0).
[[nodiscard]] text::JsonDocument<nlohmann::json> parse_json(std::string_view text);

}  // namespace smd::tool::save
