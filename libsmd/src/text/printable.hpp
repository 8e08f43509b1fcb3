// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace smd::detail {

/// Appends a text as a terminal may see it: ASCII control characters and bytes that are not UTF-8 become `\xNN`, other
/// characters that upset a terminal `\u{N}`; with `ascii`, so does everything beyond ASCII. `printable` of
/// `text/escape.hpp` is the same for messages, which quote no more than the beginning of a long text.
void append_printable(std::string& out, std::string_view text, bool ascii = false);

/// Control characters, and what hides or changes how the rest of a line shows: bidirectional controls, separators,
/// invisible marks, tags.
[[nodiscard]] bool upsets_terminal(char32_t point) noexcept;

}  // namespace smd::detail
