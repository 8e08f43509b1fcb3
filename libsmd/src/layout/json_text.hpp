// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/outcome.hpp"

namespace smd::detail::layout {

/// Replaces each string that holds half a surrogate pair, and each number that 64 bits or a double cannot hold, by
/// `null` and blanks (a key by `""`), in a copy of the same length. Valid JSON apart from these becomes JSON that
/// parsers take.
[[nodiscard]] std::string blank_out_unrepresentable(std::string_view json);

/// Why a text is not valid JSON, and at which byte.
[[nodiscard]] Problem invalid_json(std::string_view text);

/// How deeply objects and arrays are nested in a text that may not be JSON at all.
[[nodiscard]] std::size_t json_depth(std::string_view text) noexcept;

}  // namespace smd::detail::layout
