// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

namespace smd::tool {

/// The exponential mean of a series as TensorBoard shows it: s = W s + (1 - W) x, divided by 1 - W^n, where n counts
/// finite numbers. Numbers that are not finite stay as they are.
class ExponentialMean {
 public:
  explicit ExponentialMean(double weight) noexcept : weight_(weight) {}

  [[nodiscard]] double next(double number) noexcept {
    if (!std::isfinite(number)) {
      return number;
    }
    sum_ = weight_ * sum_ + (1 - weight_) * number;
    left_ *= weight_;
    return sum_ / (1 - left_);
  }

 private:
  double weight_;
  double sum_ = 0;
  double left_ = 1;  // W^n
};

}  // namespace smd::tool
