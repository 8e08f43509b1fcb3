// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace smd::detail {

/// True if `text` is well-formed UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.
[[nodiscard]] bool valid_utf8(std::string_view text) noexcept;

/// `text` fit to stand in a message: control characters and bytes that are not UTF-8 become `\xNN` (`\n`, `\t` and `\r`
/// by name, a backslash before them doubled only there), and characters that change the direction of writing or cannot
/// be seen `\u{N}`.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace smd::detail
