// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smd::detail {

/// A pattern of Python's `re` in the words of PCRE2 (to be compiled with UTF, UCP and ALT_CIRCUMFLEX).
struct Translation {
  /// What has no words there, the byte of the Python pattern where it stands, and what to say behind that.
  struct Refusal {
    std::string text;
    std::size_t byte = 0;
    std::string advice;
  };
  /// Up to where both were when a piece was done.
  struct Mark {
    std::size_t pcre2 = 0;
    std::size_t python = 0;
  };

  std::string pcre2;
  std::vector<Mark> marks;  ///< Ascending.
  std::optional<Refusal> refusal;

  /// Where in the Python pattern the place `offset` of `pcre2` comes from.
  [[nodiscard]] std::size_t python_offset(std::size_t offset) const;
};

/// Translates what PCRE2 writes otherwise than Python, or understands otherwise: the flags `a` and `u`, global flags
/// anywhere, verbose patterns, `\w \d \s \b` and their opposites, `\v \Z \uXXXX`, octal numbers and references, `{,n}`
/// and braces that are none, `[` within a class, characters that are the same without regard to case. What is PCRE2's
/// alone (`\p{Lu}`, recursion) stays as it is.
[[nodiscard]] Translation translate_pattern(std::string_view python);

}  // namespace smd::detail
