// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace smd::detail {

/// Appends a text in a form that is safe for a terminal: ASCII control characters and bytes that are not UTF-8 become
/// `\xNN`, other characters that upset a terminal `\u{N}`; with `ascii`, so does everything beyond ASCII. `printable`
/// of `text/escape.hpp` is the same for messages, which quote no more than the beginning of a long text.
void append_printable(std::string& out, std::string_view text, bool ascii = false);

/// Returns true for control characters, and for characters that hide or change the rest of a line: bidirectional
/// controls, separators, invisible marks, tags.
[[nodiscard]] bool upsets_terminal(char32_t point) noexcept;

}  // namespace smd::detail
