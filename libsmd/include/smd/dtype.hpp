// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/export.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace smd {

/// Element types of a tensor. The numbers are TensorFlow's `DataType` (types.proto), which event files store; 200 is not
/// in it. The float8 kinds are named as in PyTorch; event files have none.
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
  float8_e5m2 = 24,
  float8_e4m3fn = 25,    ///< No infinities.
  float8_e4m3fnuz = 26,  ///< No infinities, no -0.
  float8_e5m2fnuz = 28,  ///< No infinities, no -0.
  float8_e8m0fnu = 200,  ///< Powers of two: no sign, no 0, no infinities.
};

/// All element types, by number.
[[nodiscard]] SMD_EXPORT std::span<const Dtype> all_dtypes() noexcept;

/// The type of that name, as `to_string` has it; nullopt if there is none.
[[nodiscard]] SMD_EXPORT std::optional<Dtype> dtype_from_name(std::string_view name) noexcept;


/// NumPy's name where it has the type (`float32`, `bool`, …), else `string`, `bfloat16`, `qint8` and the like.
[[nodiscard]] SMD_EXPORT std::string_view to_string(Dtype dtype) noexcept;

/// Bytes of one element; 0 for strings, whose elements differ in length.
[[nodiscard]] SMD_EXPORT std::size_t item_size(Dtype dtype) noexcept;

/// True for the types that hold one real number an element: floating point, integers (quantised ones too), boolean.
[[nodiscard]] SMD_EXPORT bool is_real(Dtype dtype) noexcept;

/// True for floating point of 8 to 64 bits.
[[nodiscard]] SMD_EXPORT bool is_floating(Dtype dtype) noexcept;

/// True for complex64 and complex128.
[[nodiscard]] SMD_EXPORT bool is_complex(Dtype dtype) noexcept;

/// NumPy's `dtype.kind` of the elements as they are stored: `f`, `i`, `u`, `b`, `c`, or `S` for strings. Also of types
/// that NumPy lacks: bfloat16 and the float8 kinds are `f`.
[[nodiscard]] SMD_EXPORT char numpy_kind(Dtype dtype) noexcept;

/// The type in which a quantised type's elements are stored (`qint8` is `int8`); any other type is itself.
[[nodiscard]] SMD_EXPORT Dtype storage_type(Dtype dtype) noexcept;

}  // namespace smd
