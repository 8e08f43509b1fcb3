// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace smd::detail {

/// A regular expression in Python's dialect as far as PCRE2 can be made to share it: found anywhere in the text,
/// case-sensitive, UTF-8, classes and case folding by Unicode. Matching is bounded by `limits.hpp`. Not for concurrent
/// use.
class Pattern {
 public:
  enum class Answer : std::uint8_t { no, yes, limit };

  Pattern();
  ~Pattern();
  Pattern(Pattern&&) noexcept;
  Pattern& operator=(Pattern&&) noexcept;

  /// Compiles; returns what is wrong with the text and where, or nothing.
  [[nodiscard]] std::optional<std::string> compile(std::string_view text);
  /// Whether it is found in `subject`.
  [[nodiscard]] Answer search(std::string_view subject);
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  struct Compiled;
  std::string text_;
  std::unique_ptr<Compiled> compiled_;  // null: matches everything
};

}  // namespace smd::detail
