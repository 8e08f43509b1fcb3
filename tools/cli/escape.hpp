// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "text/escape.hpp"

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace smd::tool {

using detail::with_backslashes;

/// Appends a text, some of whose characters have replacements.
void append_replaced(std::string& out, std::string_view text,
                     std::initializer_list<std::pair<char, std::string_view>> replacements);

/// TSV: tab, newline, carriage return and backslash become `\t \n \r \\`; every other byte stays.
void append_tsv(std::string& out, std::string_view text);
/// If false, append_tsv appends the text unchanged. Also true for other control characters, which append_tsv leaves.
bool tsv_needs_escapes(std::string_view text) noexcept;
/// As `append_tsv`, for a terminal: also escapes whatever else could upset it, as `append_printable` does.
void append_tsv_shown(std::string& out, std::string_view text, bool ascii);

/// CSV (RFC 4180): quoted if it holds a comma, a quote, CR or LF, or is empty; quotes doubled.
void append_csv(std::string& out, std::string_view text);
/// If false, append_csv appends the text unchanged.
bool csv_needs_quotes(std::string_view text) noexcept;
/// As `append_csv`, for a terminal: makes the text printable first.
void append_csv_shown(std::string& out, std::string_view text, bool ascii);

/// A JSON string with its quotes. Each byte that is not part of UTF-8 becomes U+FFFD; returns false if there was one.
bool append_json(std::string& out, std::string_view text);

/// Appends output, line breaks and colours included, whose strings are JSON's or printable already. What could upset a
/// terminal beyond ASCII, and DEL, becomes `\uXXXX`, which does not change the value of JSON.
void append_json_shown(std::string& out, std::string_view text);

/// Returns any bytes as UTF-8 that can be shown and that XML 1.0 (section 2.2) permits: `printable` text, in which
/// U+FFFE and U+FFFF become `\u{N}` too.
[[nodiscard]] std::string displayable(std::string_view text);

/// Returns any bytes as the text of an element, or as the value of an attribute between double quotes: displayable,
/// and `& < > "` escaped.
[[nodiscard]] std::string xml(std::string_view text);

}  // namespace smd::tool
