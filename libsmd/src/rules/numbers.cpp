// SPDX-License-Identifier: Apache-2.0
#include "rules/numbers.hpp"

#include "reduce/doubles.hpp"

#include <array>

namespace smd::detail::rules {

double first_number(const TensorView& view) {
  constexpr std::array<std::int64_t, 0> scalar{};
  double first = 0;
  reduce::for_doubles(TensorView(view.dtype(), scalar, view.bytes()),
                      [&](const double* values, std::size_t) { first = values[0]; });
  return first;
}

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
