// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace smd::tool {

/// The exponential mean of a series as TensorBoard shows it: s = W s + (1 - W) x, divided by 1 - W^n, where n counts
/// finite numbers. Numbers that are not finite stay as they are.
class ExponentialMean {
 public:
  explicit ExponentialMean(double weight) noexcept : weight_(weight) {}
  [[nodiscard]] double next(double number) noexcept;

 private:
  double weight_;
  double sum_ = 0;
  double left_ = 1;  // W^n
};

/// The weight that --smooth gives. @throws InvalidValue unless 0 <= W < 1.
[[nodiscard]] double smoothing_weight(const std::string& text);

}  // namespace smd::tool
