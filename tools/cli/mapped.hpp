// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "text/mapped.hpp"

namespace smd::tool {

using detail::add_once;
using detail::contains;
using detail::mapped;

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
