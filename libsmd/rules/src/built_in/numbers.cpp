// SPDX-License-Identifier: Apache-2.0
#include "built_in/numbers.hpp"

#include <algorithm>
#include <array>

namespace smd::detail::rules {

std::vector<float> widen(const TensorView& view) {
  std::vector<float> all(static_cast<std::size_t>(element_count(view)));
  std::array<double, 1024> block;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled before it is read
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t n = copy_as_doubles(view, at, block);
    std::transform(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(n),
                   all.begin() + static_cast<std::ptrdiff_t>(at), [](double x) { return static_cast<float>(x); });
    at += n;
  }
  return all;
}

}  // namespace smd::detail::rules
