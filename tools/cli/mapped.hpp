// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <iterator>
#include <type_traits>
#include <vector>

namespace smd::tool {

/// What a function or a member makes of each item, in their order.
template <class Items, class Function>
[[nodiscard]] auto mapped(const Items& items, Function&& function) {
  std::vector<std::remove_cvref_t<decltype(std::invoke(function, *std::begin(items)))>> all;
  all.reserve(std::size(items));
  for (const auto& item : items) {
    all.push_back(std::invoke(function, item));
  }
  return all;
}

/// The keys of a map, in their order.
template <class Map>
[[nodiscard]] auto keys_of(const Map& map) {
  return mapped(map, &Map::value_type::first);
}

/// The sum of what a function or a member makes of each item.
template <class Items, class Function>
[[nodiscard]] auto sum_of(const Items& items, Function&& function) {
  std::remove_cvref_t<decltype(std::invoke(function, *std::begin(items)))> sum = {};
  for (const auto& item : items) {
    sum += std::invoke(function, item);
  }
  return sum;
}

}  // namespace smd::tool
