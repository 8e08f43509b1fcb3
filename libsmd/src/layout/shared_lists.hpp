// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace smd::detail::layout {

/// Stores equal lists once: writers repeat them.
template <class List>
class SharedLists {
 public:
  /// Adds to `lists`, which must outlive this and be empty.
  explicit SharedLists(std::vector<List>& lists) : lists_(lists) {}

  /// Returns the position of an equal list; adds the list first if none is equal. `hash` is that of the list.
  template <class Given>
  std::uint32_t id_of(Given&& list, std::uint64_t hash) {
    const auto [first, end] = ids_.equal_range(hash);
    const auto known = std::find_if(first, end, [&](const auto& entry) { return lists_[entry.second] == list; });
    if (known != end) {
      return known->second;
    }
    const auto id = static_cast<std::uint32_t>(lists_.size());
    lists_.push_back(std::forward<Given>(list));
    ids_.emplace(hash, id);
    return id;
  }

 private:
  std::vector<List>& lists_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> ids_;
};

}  // namespace smd::detail::layout
