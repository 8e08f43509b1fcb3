// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "text/words.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smd::tool::report {

using text::joined;

/// A name or another text from a trial, as text of the page: it is never markup, and its direction does not affect what
/// follows. The middle of a very long text is left out; a tool tip holds the whole.
[[nodiscard]] std::string name_html(std::string_view name);

/// A cell: text, or a right-aligned number.
struct HtmlCell {
  std::string html;
  bool number = false;
  std::string sort_key = {};  ///< What the column is sorted by, if the text does not show that number.
};

/// A table that the script can sort. `caption`: for screen readers. It scrolls sideways where there is no room.
[[nodiscard]] std::string table_html(std::string_view caption, std::span<const std::string> header,
                                     std::span<const std::vector<HtmlCell>> rows);

/// Content that is one click away, even without a script. `summary` is HTML.
[[nodiscard]] std::string details_html(std::string_view summary, std::string_view content);

/// `<ul>`: items are HTML.
[[nodiscard]] std::string list_html(std::span<const std::string> items);

/// A command line to copy.
[[nodiscard]] std::string command_html(std::string_view command);

/// A word as a POSIX shell (or, with control characters, as bash) reads it back.
[[nodiscard]] std::string shell_word(std::string_view word);

/// A number for people: six digits.
[[nodiscard]] std::string short_text(double number);
/// `12,345`
[[nodiscard]] std::string grouped(std::uint64_t number);
/// `1.4 MiB`
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);

}  // namespace smd::tool::report
