// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "text/excerpt.hpp"

namespace smd::detail {

/// True if `text` is well-formed UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.
[[nodiscard]] bool valid_utf8(std::string_view text) noexcept;

/// `text` fit to stand in a message: ASCII control characters and bytes that are not UTF-8 become `\xNN`, other control
/// characters, line separators and those that change the direction of writing `\u{N}`. All else stays as it is. Of a
/// text longer than `most` bytes stands the beginning and its length (`text::excerpt`).
[[nodiscard]] std::string printable(std::string_view text, std::size_t most = text::quoted_bytes);

}  // namespace smd::detail
