// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smd::detail {

/// A pattern of Python's `re`, translated to PCRE2 (to be compiled with UTF, UCP and ALT_CIRCUMFLEX).
struct Translation {
  /// A part that cannot be translated, its byte offset in the Python pattern, and advice to append to the message.
  struct Refusal {
    std::string text;
    std::size_t byte = 0;
    std::string advice;
  };
  /// Corresponding offsets in both patterns at the end of a piece.
  struct Mark {
    std::size_t pcre2 = 0;
    std::size_t python = 0;
  };

  std::string pcre2;
  std::vector<Mark> marks;  ///< In ascending order.
  std::optional<Refusal> refusal;

  /// Returns the offset in the Python pattern that corresponds to `offset` in `pcre2`.
  [[nodiscard]] std::size_t python_offset(std::size_t offset) const;
};

/// Translates what PCRE2 writes or understands differently from Python: the flags `a` and `u`, global flags anywhere,
/// verbose patterns, `\w \d \s \b` and their opposites, `\v \Z \uXXXX`, octal numbers and references, `{,n}` and
/// literal braces, `[` inside a class, characters that are equal without regard to case. Syntax that only PCRE2 has
/// (`\p{Lu}`, recursion) is left unchanged.
[[nodiscard]] Translation translate_pattern(std::string_view python);

}  // namespace smd::detail
