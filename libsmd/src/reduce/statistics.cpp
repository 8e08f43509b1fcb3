// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <smd/reduction.hpp>
#include <type_traits>

namespace smd {
namespace {

// Bit patterns that stand for 16-bit floating point numbers.
struct Half {
  std::uint16_t bits;
};
struct Bfloat {
  std::uint16_t bits;
};

double number(Half half) {
  const int exponent = (half.bits >> 10) & 31;
  const int fraction = half.bits & 1023;
  double magnitude;
  if (exponent == 31) {
    magnitude = fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    magnitude = std::ldexp(fraction, -24);
  } else {
    magnitude = std::ldexp(1024 + fraction, exponent - 25);
  }
  return (half.bits & 0x8000) != 0 ? -magnitude : magnitude;
}

double number(Bfloat value) { return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16); }

double number(bool value) { return value ? 1 : 0; }

template <class T>
requires std::is_arithmetic_v<T>
double number(T value) { return static_cast<double>(value); }

// Blocks of 1024 elements: the mean of a block first, then squared distances from it; blocks are joined by Chan's
// formula, so that no difference of large sums is ever formed.
template <class T>
Statistics over(const std::byte* data, std::uint64_t size) {
  constexpr std::uint64_t block = 1024;
  Statistics result;
  result.size = size;
  result.min = std::numeric_limits<double>::infinity();
  result.max = -std::numeric_limits<double>::infinity();
  double mean = 0;
  double squares = 0;
  double values[block];
  for (std::uint64_t start = 0; start < size; start += block) {
    const std::uint64_t n = std::min(block, size - start);
    double sum = 0;
    for (std::uint64_t i = 0; i < n; ++i) {
      std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T> raw;
      std::memcpy(&raw, data + (start + i) * sizeof raw, sizeof raw);
      double value;
      if constexpr (std::is_same_v<T, bool>) {
        value = number(raw != 0);
      } else {
        value = number(raw);
      }
      values[i] = value;
      sum += value;
      result.nan += std::isnan(value) ? 1 : 0;
      result.inf += std::isinf(value) ? 1 : 0;
      result.zero += value == 0 ? 1 : 0;
      result.min = value < result.min ? value : result.min;
      result.max = value > result.max ? value : result.max;
    }
    const double block_mean = sum / static_cast<double>(n);
    double block_squares = 0;
    for (std::uint64_t i = 0; i < n; ++i) {
      block_squares += (values[i] - block_mean) * (values[i] - block_mean);
    }
    const double before = static_cast<double>(start);
    const double after = static_cast<double>(start + n);
    const double distance = block_mean - mean;
    mean = start == 0 ? block_mean : mean + distance * (static_cast<double>(n) / after);
    squares += block_squares + distance * distance * (before * static_cast<double>(n) / after);
  }
  result.mean = mean;
  result.std = std::sqrt(squares / static_cast<double>(size));
  if (result.nan != 0 || size == 0) {
    result.min = result.max = result.mean = result.std = std::numeric_limits<double>::quiet_NaN();
  } else if (result.inf != 0) {
    result.std = std::numeric_limits<double>::quiet_NaN();
    const bool up = result.max == std::numeric_limits<double>::infinity();
    const bool down = result.min == -std::numeric_limits<double>::infinity();
    result.mean = up && down ? std::numeric_limits<double>::quiet_NaN() : (up ? result.max : result.min);
  }
  return result;
}

}  // namespace

Statistics statistics(const TensorView& view) {
  const std::size_t item = item_size(view.dtype());
  const std::uint64_t size = item == 0 ? 0 : std::min<std::uint64_t>(view.size(), view.bytes().size() / item);
  const std::byte* data = view.bytes().data();
  switch (storage_type(view.dtype())) {
    case Dtype::float16:
      return over<Half>(data, size);
    case Dtype::bfloat16:
      return over<Bfloat>(data, size);
    case Dtype::float32:
      return over<float>(data, size);
    case Dtype::float64:
      return over<double>(data, size);
    case Dtype::int8:
      return over<std::int8_t>(data, size);
    case Dtype::uint8:
      return over<std::uint8_t>(data, size);
    case Dtype::int16:
      return over<std::int16_t>(data, size);
    case Dtype::uint16:
      return over<std::uint16_t>(data, size);
    case Dtype::int32:
      return over<std::int32_t>(data, size);
    case Dtype::uint32:
      return over<std::uint32_t>(data, size);
    case Dtype::int64:
      return over<std::int64_t>(data, size);
    case Dtype::uint64:
      return over<std::uint64_t>(data, size);
    case Dtype::boolean:
      return over<bool>(data, size);
    default:
      return over<float>(data, 0);
  }
}

}  // namespace smd
