// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace smd::detail {

/// The flags of a pattern that affect translation; PCRE2 handles the others.
struct PatternFlags {
  bool ascii = false;
  bool ignore_case = false;
  bool verbose = false;

  bool operator==(const PatternFlags&) const = default;
};

/// Returns the members of a PCRE2 class that has the characters of Python's `\w`, `\d` or `\s`, or, in upper case, all
/// others; empty for other letters. PCRE2's own classes differ: U+001C to U+001F are white space in Python, U+180E is
/// not, and from 10.43 on marks belong to words.
[[nodiscard]] std::string_view class_members(char escape, bool ascii) noexcept;

/// Appends a character as `\x{…}`; ASCII letters and digits unchanged.
void append_character(std::string& out, std::uint32_t character);

/// Appends a literal character, with those that Python treats as equal without regard to case.
void append_literal(std::string& out, std::uint32_t character, PatternFlags flags);

/// Builds the text of a class: `[a-z\d]`.
class ClassText {
 public:
  ClassText(bool negated, PatternFlags flags) : negated_(negated), flags_(flags) {}

  void add(std::uint32_t first, std::uint32_t last);
  /// Adds text that PCRE2 understands inside a class.
  void add(std::string_view members) { members_ += members; }
  void append_to(std::string& out) const;

 private:
  void add_range(std::uint32_t first, std::uint32_t last);

  bool negated_;
  PatternFlags flags_;
  std::string members_;
  std::array<bool, 4> alike_{};  // the sets of characters that only Python folds and that have a member
};

}  // namespace smd::detail
