// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/limits.hpp>

#include <algorithm>
#include <cstdint>

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

}  // namespace smd::detail
