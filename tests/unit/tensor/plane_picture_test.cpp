// SPDX-License-Identifier: Apache-2.0
#include "tensor/plane_picture.hpp"

#include "sample_values.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace smd::tool::tensor {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("grey levels run from the least to the greatest finite element") {
  const std::vector<double> numbers = {-1, 3, NAN, infinity, 0, -infinity};
  const TensorValue value = value_of(Dtype::float64, {6}, numbers);
  const GreyScale scale{Elements(value.view())};
  CHECK(scale.low() == -1);
  CHECK(scale.high() == 3);
  CHECK(scale.level(-1) == 0);
  CHECK(scale.level(3) == 1);
  CHECK(scale.level(0) == 0.25);  // (0 - -1) / (3 - -1)
  CHECK(scale.level(infinity) == 1);
  CHECK(scale.level(-infinity) == 0);
  CHECK(std::isnan(scale.level(NAN)));
}

}  // namespace smd::tool::tensor
