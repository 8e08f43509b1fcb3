// SPDX-License-Identifier: Apache-2.0
#include "rows/float8_numbers.hpp"

#include <cstddef>
#include <cstdint>

#include "text/float8.hpp"

namespace smd::tool {

namespace {

constexpr std::array<float, 256> numbers_of(const detail::Float8Format& format) noexcept {
  std::array<float, 256> numbers{};
  for (std::size_t code = 0; code < numbers.size(); ++code) {
    numbers[code] = detail::float8_value(format, static_cast<std::uint8_t>(code));
  }
  return numbers;
}

constexpr std::array<float, 256> e4m3fn = numbers_of(detail::float8_e4m3fn);
constexpr std::array<float, 256> e5m2 = numbers_of(detail::float8_e5m2);
constexpr std::array<float, 256> e4m3fnuz = numbers_of(detail::float8_e4m3fnuz);
constexpr std::array<float, 256> e5m2fnuz = numbers_of(detail::float8_e5m2fnuz);
constexpr std::array<float, 256> e8m0fnu = numbers_of(detail::float8_e8m0fnu);

}  // namespace

const std::array<float, 256>* float8_numbers(Dtype dtype) noexcept {
  switch (dtype) {
    case Dtype::float8_e4m3fn:
      return &e4m3fn;
    case Dtype::float8_e5m2:
      return &e5m2;
    case Dtype::float8_e4m3fnuz:
      return &e4m3fnuz;
    case Dtype::float8_e5m2fnuz:
      return &e5m2fnuz;
    case Dtype::float8_e8m0fnu:
      return &e8m0fnu;
    default:
      return nullptr;
  }
}

}  // namespace smd::tool
