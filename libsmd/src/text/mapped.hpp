// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <iterator>
#include <type_traits>
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

}  // namespace smd::detail
