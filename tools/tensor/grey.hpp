// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "rows/elements.hpp"

namespace smd::tool::tensor {

/// The least and greatest finite element, and where a number lies between them.
class GreyScale {
 public:
  /// Precondition: `is_real`.
  explicit GreyScale(const Elements& elements);

  /// From 0 to 1; infinities lie at the ends; NaN gives NaN. If all are equal: 0.
  [[nodiscard]] double level(double number) const noexcept;
  [[nodiscard]] double low() const noexcept { return low_; }
  [[nodiscard]] double high() const noexcept { return high_; }

 private:
  double low_ = 0;
  double high_ = 0;
};

}  // namespace smd::tool::tensor
