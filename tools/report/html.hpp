// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smd::tool::report {

/// A name or another text that a trial holds, as text of the page: whatever it holds, it is no markup, and its
/// direction ends where it ends. Of a very long one the middle is left out; the whole is its tool tip.
[[nodiscard]] std::string name_html(std::string_view name);

/// A cell: text, or a number that stands to the right.
struct HtmlCell {
  std::string html;
  bool number = false;
  std::string sort_key = {};  ///< What the column is sorted by, if it is a number that the text does not say.
};

/// A table that the script can sort. `caption`: for screen readers. It scrolls sideways where there is no room.
[[nodiscard]] std::string table_html(std::string_view caption, std::span<const std::string> header,
                                     std::span<const std::vector<HtmlCell>> rows);

/// Something that is one click away; without script too. `summary` is HTML.
[[nodiscard]] std::string details_html(std::string_view summary, std::string_view content);

/// A command line to copy.
[[nodiscard]] std::string command_html(std::string_view command);

/// A word as a POSIX shell (or, with control characters, as bash) reads it back.
[[nodiscard]] std::string shell_word(std::string_view word);

/// A number as smd-reduce prints it: it reads back equal.
[[nodiscard]] std::string exact_text(double number);
/// The same for people: six digits.
[[nodiscard]] std::string short_text(double number);
/// A sentence whose numbers have six digits, such as the message of a finding. What is part of a name stays.
[[nodiscard]] std::string short_numbers(std::string_view sentence);
/// `12,345`
[[nodiscard]] std::string grouped(std::uint64_t number);
/// `1.4 MiB`
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);

}  // namespace smd::tool::report
