// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "text/excerpt.hpp"

namespace smd::detail {

/// Returns true if `text` is well-formed UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.
[[nodiscard]] bool valid_utf8(std::string_view text) noexcept;

/// Returns `text` in a form fit for a message: ASCII control characters and bytes that are not UTF-8 become `\xNN`;
/// other control characters, line separators and characters that change the writing direction become `\u{N}`. A text
/// longer than `most` bytes is shortened to its beginning and its length (`text::excerpt`).
[[nodiscard]] std::string printable(std::string_view text, std::size_t most = text::quoted_bytes);

}  // namespace smd::detail
