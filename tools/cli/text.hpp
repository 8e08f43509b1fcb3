// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "text/escape.hpp"
#include "text/nearest.hpp"
#include "text/words.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smd::tool {

using detail::append_printable;
using detail::append_utf8;
using detail::CodePoint;
using detail::did_you_mean;
using detail::first_character;
using detail::upsets_terminal;
using detail::valid_utf8;
using text::append_part;
using text::counted;

/// Text made safe to show: control characters and bytes that are not UTF-8 become `\xNN`, bidirectional controls, line
/// separators and the like `\u{N}`. With `ascii`, everything beyond ASCII is escaped too.
[[nodiscard]] std::string printable(std::string_view text, bool ascii = false);

/// Columns that printable text takes on a terminal: 2 for wide characters, 0 for combining ones.
[[nodiscard]] std::size_t display_width(std::string_view text) noexcept;

/// `'name'`, for messages; of a long text, its beginning and its length. Not escaped: printing does that.
[[nodiscard]] std::string single_quoted(std::string_view name);
/// `'a', 'b', 'c'`, at most `most` of them, then ` and N more`.
template <class Names>
[[nodiscard]] std::string quoted_list(const Names& names, std::size_t most = 8) {
  return text::listed(names, most, single_quoted);
}

/// Whether a word is one of those in a text with blanks between them.
[[nodiscard]] bool lists(std::string_view words, std::string_view word);

/// The parts of a text between separators: always one more than there are separators.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, std::string_view separator);

/// Whether a name comes before another for people, who read digits as numbers: `layers.2` before `layers.10`.
[[nodiscard]] bool naturally_before(std::string_view a, std::string_view b) noexcept;

/// Paragraphs broken at spaces so that no line is wider than `width`; each line starts with `indent` spaces.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t width, std::size_t indent);

/// The regular expression that, searched for, finds what a shell's glob stands for: `^conv` for `conv*`, `weight$` for
/// `*weight`. Nullopt if the text is no glob: it has none of `*`, `?` and `[…]`, or is more likely meant as a regular
/// expression (`conv.*`, `a|b`).
[[nodiscard]] std::optional<std::string> regex_of_glob(std::string_view text);

/// `'*weight' is a regular expression, not a glob: try 'weight$'`, if the text is a glob; else empty.
[[nodiscard]] std::string glob_for_regex(std::string_view text);

}  // namespace smd::tool
