// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace smd::detail {

/// A pattern of Python's `re`, as PCRE2 reads it. docs/format.md ("Patterns") names what still differs.
struct Translation {
  std::string pcre2;
  std::vector<std::size_t> python;  ///< For each byte of `pcre2`, and for its end: the offset in the Python pattern.
  bool ascii = false;               ///< The flag `a`: compile without PCRE2_UCP.
};

/// Translates what PCRE2 writes otherwise: the flags `a` and `u` in front, `\Z`, `\v`, `\uXXXX`, `\UXXXXXXXX`, `{,n}`.
/// All else is unchanged, also what is not valid.
[[nodiscard]] Translation translate_pattern(std::string_view python);

}  // namespace smd::detail
