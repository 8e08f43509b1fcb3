// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <vector>

namespace smd::detail {

/// Sorts items, which mostly ascend, and leaves each once.
template <class Item>
void sort_each_once(std::vector<Item>& items) {
  if (!std::ranges::is_sorted(items)) {
    std::ranges::sort(items);
  }
  items.erase(std::unique(items.begin(), items.end()), items.end());
}

}  // namespace smd::detail
