// SPDX-License-Identifier: Apache-2.0
#include "elements.hpp"

#include <smd/elements.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace smd::test {
namespace {

using Json = nlohmann::json;

Json json_number(double value) {
  if (std::isnan(value)) {
    return "nan";
  }
  if (std::isinf(value)) {
    return value > 0 ? "inf" : "-inf";
  }
  return value;
}

template <class T>
T load(std::span<const std::byte> bytes, std::size_t index) {
  if ((index + 1) * sizeof(T) > bytes.size()) {
    throw std::runtime_error("fewer bytes than elements");
  }
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

/// IEEE 754 binary16: 1 sign bit, 5 of the exponent (bias 15), 10 of the fraction.
double half(std::uint16_t bits) {
  const double sign = bits >> 15 != 0 ? -1 : 1;
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 1023;
  if (exponent == 31) {
    return fraction != 0 ? std::nan("") : sign * HUGE_VAL;
  }
  return sign * (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25));
}

template <class Part>
Json complex(std::span<const std::byte> bytes, std::size_t index) {
  return Json::array({json_number(load<Part>(bytes, 2 * index)), json_number(load<Part>(bytes, 2 * index + 1))});
}

/// Strings are stored one after the other, each preceded by its length.
Json string_elements(std::span<const std::byte> bytes, std::size_t count) {
  Json list = Json::array();
  while (list.size() < count && !bytes.empty()) {
    const auto size = load<std::uint32_t>(bytes, 0);
    bytes = bytes.subspan(4);
    if (size > bytes.size()) {
      throw std::runtime_error("a string runs past the end of the value");
    }
    list.push_back(std::string(reinterpret_cast<const char*>(bytes.data()), size));
    bytes = bytes.subspan(size);
  }
  return list;
}

Json element(Dtype dtype, std::span<const std::byte> bytes, std::size_t index) {
  return visit_element_type(dtype, [&]<class Stored>(std::type_identity<Stored>) -> Json {
    if constexpr (std::is_same_v<Stored, Half>) {
      return json_number(half(load<std::uint16_t>(bytes, index)));
    } else if constexpr (std::is_same_v<Stored, bool>) {
      return load<std::uint8_t>(bytes, index) != 0;
    } else if constexpr (std::is_integral_v<Stored>) {
      return load<Stored>(bytes, index);
    } else if constexpr (std::is_floating_point_v<Stored>) {
      return json_number(static_cast<double>(load<Stored>(bytes, index)));
    } else if constexpr (std::is_same_v<Stored, std::complex<float>> || std::is_same_v<Stored, std::complex<double>>) {
      return complex<typename Stored::value_type>(bytes, index);
    } else {
      throw std::runtime_error("no recorded value has this type");
    }
  });
}

}  // namespace

Json first_elements(const TensorView& view, std::size_t count) {
  if (view.dtype() == Dtype::string) {
    return string_elements(view.bytes(), count);
  }
  Json list = Json::array();
  for (std::size_t i = 0; i < std::min<std::size_t>(count, view.size()); ++i) {
    list.push_back(element(view.dtype(), view.bytes(), i));
  }
  return list;
}

}  // namespace smd::test
