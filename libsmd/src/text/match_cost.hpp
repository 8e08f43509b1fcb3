// SPDX-License-Identifier: Apache-2.0
#pragma once

#ifndef PCRE2_CODE_UNIT_WIDTH
#define PCRE2_CODE_UNIT_WIDTH 8
#endif

#include <pcre2.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace smd::detail {

/// Number of bytes that are read in the time of one step.
constexpr std::size_t bytes_in_step = 8;

/// Costs of the items of a compiled pattern. PCRE2's own match limit starts again at each place where a match may
/// begin, and counts neither what a repeated class skips nor what it compares. So steps are counted at the callouts
/// that PCRE2 inserts before each item (PCRE2_AUTO_CALLOUT).
class ItemCosts {
 public:
  ItemCosts() = default;
  /// `pattern` is the text from which `code` was compiled.
  ItemCosts(const pcre2_code* code, std::string_view pattern);

  struct Item {
    std::uint32_t per_byte = 1;  ///< For bytes that it skips: a large class is slow to search.
    std::uint32_t ahead = 0;     ///< Bytes that it may read and then fail, without a callout.
  };
  /// Returns the item at an offset of the pattern.
  [[nodiscard]] const Item& at(std::size_t place) const noexcept { return items_[place]; }

 private:
  std::vector<Item> items_;
};

/// Counts the steps of one search, up to a limit.
class StepCounter {
 public:
  StepCounter(const ItemCosts& costs, std::uint64_t limit) noexcept : costs_(&costs), limit_(limit) {}

  /// For pcre2_set_callout; `counter` is a StepCounter. Ends the search with PCRE2_ERROR_CALLOUT.
  static int callout(pcre2_callout_block* block, void* counter) noexcept;

  /// Adds steps; returns whether the total is within the limit.
  [[nodiscard]] bool take(std::uint64_t steps) noexcept {
    steps_ += steps;
    return steps_ <= limit_;
  }
  [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }
  [[nodiscard]] std::uint64_t limit() const noexcept { return limit_; }

 private:
  const ItemCosts* costs_;
  std::uint64_t limit_;
  std::uint64_t steps_ = 0;
  std::size_t position_ = 0;
  std::uint32_t per_byte_ = 0;  // cost of the previous item; PCRE2's fast search finds the first one
};

}  // namespace smd::detail
