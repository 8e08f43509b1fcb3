// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace smd::detail {

/// Rewrites what PCRE2 writes otherwise than Python's `re`, or not at all: `\Z`, `\uXXXX` and `\UXXXXXXXX`, `{,n}`, and
/// `[` within a class, where PCRE2 would see `[:alpha:]`. All else stays as it is.
[[nodiscard]] std::string to_pcre2(std::string_view python);

/// Where in the Python pattern the place `offset` of its rewritten form comes from.
[[nodiscard]] std::size_t python_offset(std::string_view python, std::size_t offset);

}  // namespace smd::detail
