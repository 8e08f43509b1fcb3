// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

namespace smd::detail {

/// Returns what a function or a member makes of each item, in their order.
template <class Items, class Function>
[[nodiscard]] auto mapped(Items&& items, Function&& function) {
  std::vector<std::remove_cvref_t<decltype(std::invoke(function, *std::begin(items)))>> all;
  all.reserve(std::size(items));
  for (auto&& item : items) {
    all.push_back(std::invoke(function, item));
  }
  return all;
}

/// Returns whether an item is equal to a value.
template <class Items, class Value>
[[nodiscard]] bool contains(const Items& items, const Value& value) {
  return std::find(std::begin(items), std::end(items), value) != std::end(items);
}

/// Appends an item to a list that does not contain it.
template <class List, class Item>
void add_once(List& list, Item&& item) {
  if (!contains(list, item)) {
    list.push_back(std::forward<Item>(item));
  }
}

/// Sorts items that mostly are in order already.
template <class Items, class Before = std::less<>>
void sort_if_needed(Items& items, Before before = {}) {
  if (!std::ranges::is_sorted(items, before)) {
    std::ranges::sort(items, before);
  }
}

/// Sorts items that mostly are in order already, and leaves each once.
template <class Item, class Before = std::less<>>
void sort_each_once(std::vector<Item>& items, Before before = {}) {
  sort_if_needed(items, before);
  items.erase(std::unique(items.begin(), items.end()), items.end());
}

/// Returns, for each number of a permutation of 0, 1, 2, …, where it stands.
[[nodiscard]] inline std::vector<std::uint32_t> places_in(const std::vector<std::uint32_t>& order) {
  std::vector<std::uint32_t> places(order.size());
  for (std::uint32_t place = 0; place < order.size(); ++place) {
    places[order[place]] = place;
  }
  return places;
}

}  // namespace smd::detail
