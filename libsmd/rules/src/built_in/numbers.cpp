// SPDX-License-Identifier: Apache-2.0
#include "built_in/numbers.hpp"

#include "reduce/doubles.hpp"

namespace smd::detail::rules {

std::vector<double> to_doubles(const TensorView& view) {
  std::vector<double> all;
  all.reserve(reduce::element_count_of(view));
  reduce::for_doubles(view, [&](const double* values, std::size_t n) { all.insert(all.end(), values, values + n); });
  return all;
}

std::vector<float> widen(const TensorView& view) {
  std::vector<float> all;
  all.reserve(reduce::element_count_of(view));
  reduce::for_doubles(view, [&](const double* values, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      all.push_back(static_cast<float>(values[i]));
    }
  });
  return all;
}

}  // namespace smd::detail::rules
