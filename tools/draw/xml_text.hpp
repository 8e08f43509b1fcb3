// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace smd::tool {

/// Any bytes as UTF-8 that can be shown and that XML 1.0 (section 2.2) takes: bytes that are not UTF-8 become U+FFFD,
/// control characters `\xNN`, bidirectional controls, line separators and the like `\u{N}`.
[[nodiscard]] std::string displayable(std::string_view text);

/// Appends any bytes as the text of an element, or as the value of an attribute between double quotes: displayable,
/// and `& < > " '` escaped.
void append_xml(std::string& out, std::string_view text);
[[nodiscard]] std::string xml(std::string_view text);

/// About how wide displayable text is, in heights of its font (em): a little more than a sans-serif font takes.
[[nodiscard]] double text_width(std::string_view text) noexcept;

/// Any bytes made displayable and, if they are wider than that, with `…` in place of their middle: names of tensors
/// differ at their ends.
[[nodiscard]] std::string shortened(std::string_view text, double width);

/// Any bytes made displayable, in at most `most` lines that are no wider than that, broken at spaces where there are
/// some; what is too long is shortened.
[[nodiscard]] std::vector<std::string> text_lines(std::string_view text, double width, std::size_t most);

}  // namespace smd::tool
