// SPDX-License-Identifier: Apache-2.0
#include "text/match_cost.hpp"

#include <algorithm>
#include <charconv>

namespace smd::detail {

namespace {

/// A class is searched range by range, in time roughly proportional to the length of its text.
constexpr std::size_t class_text_in_byte = 32;
/// More bytes than any name has.
constexpr std::uint32_t whole_subject = UINT32_MAX;

/// Returns the minimum number of repetitions in `x{3,5}`: they are matched without a callout between them.
std::uint32_t least_repetitions(std::string_view item) {
  const std::size_t open = item.rfind('{');
  if (open == std::string_view::npos || open == 0 || item.find('}', open) == std::string_view::npos) {
    return 0;
  }
  std::uint32_t least = 0;
  std::from_chars(item.data() + open + 1, item.data() + item.size(), least);
  return least;
}

/// Returns how many characters an item may read before it fails; 0 if it reads at most one.
std::uint32_t looked_at(std::string_view item, std::uint32_t longest_lookbehind) {
  if (item.starts_with("(?<=") || item.starts_with("(?<!")) {
    return longest_lookbehind;
  }
  if (item.starts_with("(?P=")) {
    return whole_subject;
  }
  if (item.starts_with('\\') && item.size() > 1) {
    const char kind = item[1];
    if ((kind >= '1' && kind <= '9') || kind == 'k' || kind == 'g' || kind == 'X') {
      return whole_subject;  // a reference to a group, or a character with any number of combining marks
    }
  }
  return least_repetitions(item);
}

struct Enumeration {
  std::string_view pattern;
  std::vector<ItemCosts::Item>* items;
  std::uint32_t longest_lookbehind = 0;
};

int add_item(pcre2_callout_enumerate_block* block, void* data) {
  const Enumeration& all = *static_cast<Enumeration*>(data);
  const std::string_view item =
      all.pattern.substr(std::min(block->pattern_position, all.pattern.size()), block->next_item_length);
  constexpr std::uint32_t bytes_in_character = 4;
  const std::uint32_t ahead = looked_at(item, all.longest_lookbehind);
  (*all.items)[std::min(block->pattern_position, all.pattern.size())] = {
      static_cast<std::uint32_t>(1 + item.size() / class_text_in_byte),
      ahead > whole_subject / bytes_in_character ? whole_subject : ahead * bytes_in_character};
  return 0;
}

}  // namespace

ItemCosts::ItemCosts(const pcre2_code* code, std::string_view pattern) : items_(pattern.size() + 1) {
  Enumeration all{pattern, &items_};
  pcre2_pattern_info(code, PCRE2_INFO_MAXLOOKBEHIND, &all.longest_lookbehind);
  pcre2_callout_enumerate(code, add_item, &all);
}

int StepCounter::callout(pcre2_callout_block* block, void* counter) noexcept {
  StepCounter& self = *static_cast<StepCounter*>(counter);
  const std::size_t at = block->current_position;
  const ItemCosts::Item& item = self.costs_->at(block->pattern_position);
  const std::uint64_t passed = at > self.position_ ? at - self.position_ : 0;
  const std::uint64_t looked_at = passed * self.per_byte_ + std::min<std::uint64_t>(item.ahead, block->subject_length);
  self.position_ = at;
  self.per_byte_ = item.per_byte;
  return self.take(1 + looked_at / bytes_in_step) ? 0 : PCRE2_ERROR_CALLOUT;
}

}  // namespace smd::detail
