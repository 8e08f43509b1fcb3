// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace smd::tool {

/// Returns any bytes as UTF-8 that can be shown and that XML 1.0 (section 2.2) permits: `printable` text, in which
/// U+FFFE and U+FFFF become `\u{N}` too.
[[nodiscard]] std::string displayable(std::string_view text);

/// Appends any bytes as the text of an element, or as the value of an attribute between double quotes: displayable,
/// and `& < > "` escaped.
void append_xml(std::string& out, std::string_view text);
[[nodiscard]] std::string xml(std::string_view text);

}  // namespace smd::tool
