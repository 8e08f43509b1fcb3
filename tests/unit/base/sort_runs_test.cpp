// SPDX-License-Identifier: Apache-2.0
#include "base/sort_runs.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

TEST_CASE("items in runs are sorted as std::stable_sort does") {
  std::mt19937 random(7);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same on every run
  for (const std::size_t size : {0U, 1U, 2U, 15U, 16U, 17U, 33U, 100U, 1000U}) {
    for (const std::size_t run : {1U, 3U, 20U, 500U}) {
      std::vector<std::pair<int, std::size_t>> items;
      for (std::size_t i = 0; i < size; ++i) {
        items.emplace_back(static_cast<int>(random() % 50), i);
      }
      const auto less = [](const auto& a, const auto& b) { return a.first < b.first; };
      for (std::size_t begin = 0; begin < size; begin += run) {
        const auto first = items.begin() + static_cast<std::ptrdiff_t>(begin);
        std::sort(first, first + static_cast<std::ptrdiff_t>(std::min(run, size - begin)), less);
      }
      auto expected = items;
      std::stable_sort(expected.begin(), expected.end(), less);
      smd::detail::sort_runs(items, less);
      CHECK(items == expected);
    }
  }
}
