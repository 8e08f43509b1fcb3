// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "text/match_budget.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace smd::detail {

/// A regular expression in Python's dialect as far as PCRE2 can be made to share it: found anywhere in the text,
/// case-sensitive, UTF-8, classes and case folding by Unicode. Matching is bounded by `limits.hpp`: for each name, by
/// `pattern_match_steps` over all places where a match may start, and for a question by its budget. Not for concurrent
/// use.
class Pattern {
 public:
  enum class Answer : std::uint8_t {
    no,
    yes,
    limit,  ///< This name needs more steps, memory or stack than a name may.
    spent,  ///< The question has no steps left.
  };

  Pattern();
  ~Pattern();
  Pattern(Pattern&&) noexcept;
  Pattern& operator=(Pattern&&) noexcept;

  /// Compiles; returns what is wrong with the text and where, or nothing.
  [[nodiscard]] std::optional<std::string> compile(std::string_view text);
  /// Whether it is found in `subject`; what that takes is taken from `budget`.
  [[nodiscard]] Answer search(std::string_view subject, MatchBudget& budget);
  /// A question of its own.
  [[nodiscard]] Answer search(std::string_view subject) {
    MatchBudget budget;
    return search(subject, budget);
  }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  struct Compiled;
  std::string text_;
  std::unique_ptr<Compiled> compiled_;  // null: matches everything
};

}  // namespace smd::detail
