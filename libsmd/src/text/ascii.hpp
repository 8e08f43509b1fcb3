// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Classes of ASCII characters, whatever the locale.
namespace smd::text {

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
constexpr bool is_lower(char c) noexcept { return c >= 'a' && c <= 'z'; }
constexpr bool is_upper(char c) noexcept { return c >= 'A' && c <= 'Z'; }
constexpr bool is_letter(char c) noexcept { return is_lower(c) || is_upper(c); }
constexpr bool is_alphanumeric(char c) noexcept { return is_letter(c) || is_digit(c); }

constexpr char to_lower(char c) noexcept { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace smd::text
