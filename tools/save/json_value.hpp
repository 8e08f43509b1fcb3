// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <smd/dtype.hpp>
#include <string>

#include "array.hpp"

namespace smd::tool::save {

/// The type of that name, as `to_string` gives it. @throws InvalidValue, with the nearest.
[[nodiscard]] Dtype parse_dtype(const std::string& name);

/// An array from JSON as `smd-tensor --json` writes it: nested lists of numbers (also NaN, Infinity and -Infinity, as
/// numbers or as text), truths or texts; complex numbers as [re, im]. Without a type: booleans as such, numbers as
/// float64, texts not at all. The shape, where given, must hold as many elements; it tells apart empty lists.
/// @throws InvalidValue.
[[nodiscard]] Array array_from_json(const nlohmann::json& value, std::optional<Dtype> dtype,
                                    const std::optional<Shape>& shape);

}  // namespace smd::tool::save
