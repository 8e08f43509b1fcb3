// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "text/escape.hpp"
#include "text/limits.hpp"

#include <smd/error.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smd::detail {

/// Number of steps that matching may still take, for all patterns and names of one query. Not safe for concurrent use.
class MatchBudget {
 public:
  explicit MatchBudget(std::uint64_t steps = limits::pattern_question_steps) noexcept : left_(steps) {}

  [[nodiscard]] std::uint64_t left() const noexcept { return left_; }
  [[nodiscard]] bool spent() const noexcept { return left_ == 0; }
  /// Subtracts `steps`, at most down to 0.
  void spend(std::uint64_t steps) noexcept { left_ -= std::min(left_, steps); }

 private:
  std::uint64_t left_;
};

/// A regular expression of PCRE2, or of Python where the two differ little (docs/format.md, "Patterns"): found anywhere
/// in the text, case-sensitive, UTF-8, with Unicode classes and case folding. `limits.hpp` bounds the cost: for each
/// name, `pattern_match_steps` over all places where a match may start, and for a query its budget. Not safe for
/// concurrent use.
class Pattern {
 public:
  enum class Answer : std::uint8_t {
    no,
    yes,
    limit,  ///< This name needs more steps, memory or stack than allowed.
    spent,  ///< The query has no steps left.
  };

  Pattern();
  ~Pattern();
  Pattern(Pattern&&) noexcept;
  Pattern& operator=(Pattern&&) noexcept;

  /// Compiles a pattern. Returns the error and its place in the text, or nullopt.
  [[nodiscard]] std::optional<std::string> compile(std::string_view text);
  /// Returns whether the pattern is found in `subject`; subtracts the cost from `budget`.
  [[nodiscard]] Answer search(std::string_view subject, MatchBudget& budget);
  /// As above, with a budget of its own.
  [[nodiscard]] Answer search(std::string_view subject) {
    MatchBudget budget;
    return search(subject, budget);
  }
  /// As `search`, where "not found" would be wrong if a limit was reached. @throws MatchLimit.
  [[nodiscard]] bool found(std::string_view subject, MatchBudget& budget) {
    return decided(search(subject, budget), subject);
  }
  [[nodiscard]] bool found(std::string_view subject) { return decided(search(subject), subject); }
  /// A named group of a match, and what it matched; nullopt if it took no part.
  using Group = std::pair<std::string, std::optional<std::string_view>>;
  /// Returns the named groups of the first match in `subject`, by name; empty if the pattern is not found.
  /// @throws MatchLimit.
  [[nodiscard]] std::vector<Group> groups(std::string_view subject) {
    std::vector<Group> groups;
    (void)decided(search_groups(subject, groups), subject);
    return groups;
  }
  /// Returns the names of groups.
  [[nodiscard]] std::vector<std::string> group_names() const;
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  struct Compiled;
  [[nodiscard]] Answer search_groups(std::string_view subject, std::vector<Group>& groups);
  [[nodiscard]] bool decided(Answer answer, std::string_view subject) const;

  std::string text_;
  std::unique_ptr<Compiled> compiled_;  // null: matches everything
};

// Here, as parts that use this file are linked without the library's errors.
inline bool Pattern::decided(Answer answer, std::string_view subject) const {
  switch (answer) {
    case Answer::no:
      return false;
    case Answer::yes:
      return true;
    case Answer::limit:
      throw MatchLimit(
          "pattern " + in_quotes(text_) + " needs too many steps on " + in_quotes(subject) + "; make it simpler",
          text_);
    case Answer::spent:
      break;
  }
  throw MatchLimit("the patterns together need more than " + std::to_string(limits::pattern_question_steps) +
                       " steps (pattern_question_steps); at " + in_quotes(text_) + " on " + in_quotes(subject) +
                       " none were left: make them simpler",
                   text_);
}

/// A pattern of PCRE2 and what to put in the place of each match: `$1` and `${name}` stand for groups.
class Substitution {
 public:
  /// Returns the error, or nullopt.
  [[nodiscard]] std::optional<std::string> compile(std::string_view pattern, std::string_view replacement);
  /// Returns the subject with every match replaced; nullopt if `error` says why that is not possible.
  [[nodiscard]] std::optional<std::string> apply(std::string_view subject, std::string& error) const;

 private:
  struct Compiled;
  std::string replacement_;
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace smd::detail
