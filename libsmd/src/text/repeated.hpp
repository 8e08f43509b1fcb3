// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

namespace smd::text {

/// Returns true only if it is certain that of so many names none is repeated; false also if many have the same hash.
template <class NameOf>
[[nodiscard]] bool each_name_once(std::uint32_t count, const NameOf& name_of) {
  constexpr std::size_t most_steps = 64;
  struct Slot {
    std::uint32_t index = UINT32_MAX;
    std::uint32_t hash = 0;
  };
  std::vector<Slot> slots(std::bit_ceil(std::size_t{count} * 2 + 1));
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::string_view name = name_of(i);
    const std::size_t hash = std::hash<std::string_view>()(name);
    const auto mark = static_cast<std::uint32_t>(hash >> 32);
    std::size_t at = hash & (slots.size() - 1);
    for (std::size_t steps = 0; slots[at].index != UINT32_MAX; ++steps, at = (at + 1) & (slots.size() - 1)) {
      if (steps == most_steps || (slots[at].hash == mark && name_of(slots[at].index) == name)) {
        return false;
      }
    }
    slots[at] = {i, mark};
  }
  return true;
}

/// Returns pairs of indexes with the same name: the name's first index, and each later one in ascending order. Takes
/// linear time if no name is repeated, whatever the names are at most that of sorting them.
template <class NameOf>
[[nodiscard]] std::vector<std::pair<std::uint32_t, std::uint32_t>> repeated_names(std::uint32_t count,
                                                                                  const NameOf& name_of) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> repeated;
  if (each_name_once(count, name_of)) {
    return repeated;
  }
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, name_of);
  for (std::size_t i = 1, first = 0; i < order.size(); ++i) {
    if (name_of(order[i]) != name_of(order[first])) {
      first = i;
    } else {
      repeated.emplace_back(order[first], order[i]);
    }
  }
  return repeated;
}

}  // namespace smd::text
