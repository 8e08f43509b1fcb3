// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace smd::detail {

/// What of a pattern's flags its parts must know; PCRE2 keeps the others.
struct PatternFlags {
  bool ascii = false;
  bool ignore_case = false;
  bool verbose = false;

  bool operator==(const PatternFlags&) const = default;
};

/// What stands between the brackets of a PCRE2 class that has the characters of Python's `\w`, `\d`, `\s`, or, in upper
/// case, all others; empty for other letters. PCRE2's own differ: U+001C to U+001F are white space to Python, U+180E is
/// not, and from 10.43 on marks are in words.
[[nodiscard]] std::string_view class_members(char escape, bool ascii) noexcept;

/// Appends a character as `\x{…}`; letters and digits of ASCII as they are.
void append_character(std::string& out, std::uint32_t character);

/// Appends a character that stands for itself, with those that Python takes for the same without regard to case.
void append_literal(std::string& out, std::uint32_t character, PatternFlags flags);

/// A class in the making: `[a-z\d]`.
class ClassText {
 public:
  ClassText(bool negated, PatternFlags flags) : negated_(negated), flags_(flags) {}

  void add(std::uint32_t first, std::uint32_t last);
  /// What PCRE2 understands within a class.
  void add(std::string_view members) { members_ += members; }
  void append_to(std::string& out) const;

 private:
  void add_range(std::uint32_t first, std::uint32_t last);

  bool negated_;
  PatternFlags flags_;
  std::string members_;
  std::array<bool, 4> alike_{};  // which of the sets of characters that Python alone folds have a member
};

}  // namespace smd::detail
