// SPDX-License-Identifier: Apache-2.0
#include "types/float8_table.hpp"

#include "text/float8.hpp"

namespace smd::detail {

namespace {

constexpr auto e4m3fn = bfloat16_of_float8(float8_e4m3fn);
constexpr auto e5m2 = bfloat16_of_float8(float8_e5m2);
constexpr auto e4m3fnuz = bfloat16_of_float8(float8_e4m3fnuz);
constexpr auto e5m2fnuz = bfloat16_of_float8(float8_e5m2fnuz);
constexpr auto e8m0fnu = bfloat16_of_float8(float8_e8m0fnu);

}  // namespace

const std::array<std::uint16_t, 256>& float8_table(Dtype dtype) noexcept {
  switch (dtype) {
    case Dtype::float8_e5m2:
      return e5m2;
    case Dtype::float8_e4m3fnuz:
      return e4m3fnuz;
    case Dtype::float8_e5m2fnuz:
      return e5m2fnuz;
    case Dtype::float8_e8m0fnu:
      return e8m0fnu;
    default:
      return e4m3fn;
  }
}

}  // namespace smd::detail
