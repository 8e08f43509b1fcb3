// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace smd::tool {

/// TSV: tab, newline, carriage return and backslash become `\t \n \r \\`; every other byte stays.
void append_tsv(std::string& out, std::string_view text);
/// False: append_tsv appends the text as it is. It may do so with other control characters too.
bool tsv_needs_escapes(std::string_view text) noexcept;
/// For a terminal: whatever else could upset it is escaped too, as `append_printable` does.
void append_tsv_shown(std::string& out, std::string_view text, bool ascii);

/// CSV (RFC 4180): quoted if it holds a comma, a quote, CR or LF, or is empty; quotes doubled.
void append_csv(std::string& out, std::string_view text);
/// False: append_csv appends the text as it is.
bool csv_needs_quotes(std::string_view text) noexcept;
/// For a terminal: made printable first.
void append_csv_shown(std::string& out, std::string_view text, bool ascii);

/// A JSON string with its quotes. Each byte that is not part of UTF-8 becomes U+FFFD; returns false if there was one.
bool append_json(std::string& out, std::string_view text);

/// Appends whole text, lines and colours in it, in which strings are JSON's if they are not printable already: what
/// could upset a terminal beyond ASCII, and DEL, become `\uXXXX`. JSON stays the same value.
void append_json_shown(std::string& out, std::string_view text);

}  // namespace smd::tool
