// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/export.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace smd {

/// Element types of a tensor. The numbers are TensorFlow's `DataType` (types.proto), which event files store.
enum class Dtype : std::uint8_t {
  float32 = 1,
  float64 = 2,
  int32 = 3,
  uint8 = 4,
  int16 = 5,
  int8 = 6,
  string = 7,
  complex64 = 8,
  int64 = 9,
  boolean = 10,
  qint8 = 11,
  quint8 = 12,
  qint32 = 13,
  bfloat16 = 14,
  qint16 = 15,
  quint16 = 16,
  uint16 = 17,
  complex128 = 18,
  float16 = 19,
  uint32 = 22,
  uint64 = 23,
};

/// NumPy's name where it has the type (`float32`, `bool`, …), else `string`, `bfloat16`, `qint8` and the like.
[[nodiscard]] SMD_EXPORT std::string_view to_string(Dtype dtype) noexcept;

/// Bytes of one element; 0 for strings, whose elements differ in length.
[[nodiscard]] SMD_EXPORT std::size_t item_size(Dtype dtype) noexcept;

/// True for the types that hold one real number an element: floating point, integers (quantised ones too), boolean.
[[nodiscard]] SMD_EXPORT bool is_real(Dtype dtype) noexcept;

/// True for float16, bfloat16, float32 and float64.
[[nodiscard]] SMD_EXPORT bool is_floating(Dtype dtype) noexcept;

/// True for complex64 and complex128.
[[nodiscard]] SMD_EXPORT bool is_complex(Dtype dtype) noexcept;

/// The type in which a quantised type's elements are stored (`qint8` is `int8`); any other type is itself.
[[nodiscard]] SMD_EXPORT Dtype storage_type(Dtype dtype) noexcept;

}  // namespace smd
