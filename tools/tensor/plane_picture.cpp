// SPDX-License-Identifier: Apache-2.0
#include "plane_picture.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace smd::tool::tensor {

GreyScale::GreyScale(const Elements& elements) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (std::uint64_t i = 0; i < elements.view().size(); ++i) {
    const double number = elements.number(i);
    if (std::isfinite(number)) {
      low = std::min(low, number);
      high = std::max(high, number);
    }
  }
  if (low <= high) {
    low_ = low;
    high_ = high;
  }
}

double GreyScale::level(double number) const noexcept {
  if (std::isnan(number)) {
    return number;
  }
  if (number <= low_ || high_ == low_) {
    return number > high_ ? 1 : 0;
  }
  // Halves, so that the distance of any two numbers is finite.
  return number >= high_ ? 1 : (number / 2 - low_ / 2) / (high_ / 2 - low_ / 2);
}

}  // namespace smd::tool::tensor
