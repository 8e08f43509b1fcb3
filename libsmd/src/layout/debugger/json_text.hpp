// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "text/json.hpp"
#include "types/outcome.hpp"

namespace smd::detail::layout {

/// Returns a copy of the same length in which `null` and blanks replace each string with half a surrogate pair and each
/// number that neither 64 bits nor a double can hold (`""` replaces a key). If the JSON is otherwise valid, parsers
/// accept the copy.
[[nodiscard]] std::string blank_out_unrepresentable(std::string_view json);

/// Returns why a text is not valid JSON, and at which byte.
[[nodiscard]] Problem invalid_json(std::string_view text);

/// Returns a fault in a JSON document as a problem of kind damaged.
[[nodiscard]] Problem damaged_json(const text::JsonError& error);

}  // namespace smd::detail::layout
