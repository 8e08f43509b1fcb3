// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

namespace smd::detail {

/// Sorts as std::stable_sort does. Fast where items come in runs that are in order already, as names in files do: what
/// is sorted costs one look at each item, and runs are merged in pairs.
template <class T, class Less>
void sort_runs(std::vector<T>& items, Less less) {
  constexpr std::ptrdiff_t shortest = 16;  // of a run; shorter ones are sorted
  std::vector<std::ptrdiff_t> ends;
  const auto size = static_cast<std::ptrdiff_t>(items.size());
  for (std::ptrdiff_t begin = 0, end = 0; begin < size; begin = end) {
    end = std::is_sorted_until(items.begin() + begin, items.end(), less) - items.begin();
    if (end - begin < shortest) {
      end = std::min(begin + shortest, size);
      // By insertion: few items need no memory of their own.
      for (std::ptrdiff_t i = begin + 1; i < end; ++i) {
        const auto place = std::upper_bound(items.begin() + begin, items.begin() + i, *(items.begin() + i), less);
        std::rotate(place, items.begin() + i, items.begin() + i + 1);
      }
    }
    ends.push_back(end);
  }
  if (ends.size() < 2) {
    return;
  }
  std::vector<T> other(items.size());
  while (ends.size() > 1) {
    std::vector<std::ptrdiff_t> merged;
    std::ptrdiff_t begin = 0;
    for (std::size_t i = 0; i < ends.size(); i += 2) {
      const std::ptrdiff_t middle = ends[i];
      const std::ptrdiff_t end = i + 1 < ends.size() ? ends[i + 1] : middle;
      std::merge(std::make_move_iterator(items.begin() + begin), std::make_move_iterator(items.begin() + middle),
                 std::make_move_iterator(items.begin() + middle), std::make_move_iterator(items.begin() + end),
                 other.begin() + begin, less);
      merged.push_back(end);
      begin = end;
    }
    items.swap(other);
    ends = std::move(merged);
  }
}

}  // namespace smd::detail
