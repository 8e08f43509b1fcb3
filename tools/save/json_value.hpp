// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <smd/dtype.hpp>
#include <string>
#include <string_view>

#include "array.hpp"
#include "text/json.hpp"

namespace smd::tool::save {

/// Parses JSON as Python's `json` writes it: numbers may be `NaN`, `Infinity` and `-Infinity`, without quotes. Of
/// repeated keys the last one counts. @throws InvalidValue, which says what is wrong and at which byte (from 0).
[[nodiscard]] text::JsonDocument<nlohmann::json> parse_json(std::string_view text);

/// The type whose name `to_string` gives. @throws InvalidValue, with the nearest name.
[[nodiscard]] Dtype parse_dtype(const std::string& name);

/// Makes an array of JSON as `smd-tensor --json` writes it: nested lists of numbers (also NaN, Infinity and -Infinity,
/// as numbers or strings), booleans or strings; complex numbers as [re, im]. Without a dtype, booleans stay booleans,
/// numbers become float64 and strings are refused. A shape must have as many elements as the value; it is needed for
/// empty lists.
/// @throws InvalidValue.
[[nodiscard]] Array array_from_json(const nlohmann::json& value, std::optional<Dtype> dtype,
                                    const std::optional<Shape>& shape);

}  // namespace smd::tool::save
