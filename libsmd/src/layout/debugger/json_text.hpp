// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "text/json.hpp"
#include "types/outcome.hpp"

namespace smd::detail::layout {

/// Replaces each string that holds half a surrogate pair, and each number that 64 bits or a double cannot hold, by
/// `null` and blanks (a key by `""`), in a copy of the same length. Valid JSON apart from these becomes JSON that
/// parsers take.
[[nodiscard]] std::string blank_out_unrepresentable(std::string_view json);

/// Why a text is not valid JSON, and at which byte.
[[nodiscard]] Problem invalid_json(std::string_view text);

/// A fault in a JSON document as damage.
[[nodiscard]] Problem damaged_json(const text::JsonError& error);

}  // namespace smd::detail::layout
