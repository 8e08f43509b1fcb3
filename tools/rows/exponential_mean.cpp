// SPDX-License-Identifier: Apache-2.0
#include "rows/exponential_mean.hpp"

#include "cli/command_line.hpp"
#include "cli/text.hpp"
#include "text/number.hpp"

#include <cmath>
#include <optional>

namespace smd::tool {

double ExponentialMean::next(double number) noexcept {
  if (!std::isfinite(number)) {
    return number;
  }
  sum_ = weight_ * sum_ + (1 - weight_) * number;
  left_ *= weight_;
  return sum_ / (1 - left_);
}

double smoothing_weight(const std::string& text) {
  const std::optional<double> weight = text::number_of(text);
  if (!weight || !(*weight >= 0 && *weight < 1)) {
    throw InvalidValue(single_quoted(text) + " is not a number from 0 to below 1");
  }
  return *weight;
}

}  // namespace smd::tool
