// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/export.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace smd {

/// Element types of a tensor. The numbers are those of TensorFlow's `DataType` (types.proto), which event files store;
/// 200 is not among them. The float8 kinds have PyTorch's names; event files contain none of them.
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
  float8_e8m0fnu = 200,  ///< Powers of two: no sign, no zero, no infinities.
};

/// Returns all element types, ordered by number.
[[nodiscard]] SMD_EXPORT std::span<const Dtype> all_dtypes() noexcept;

/// Returns the type with this name, as `to_string` returns it; nullopt if no type has it.
[[nodiscard]] SMD_EXPORT std::optional<Dtype> dtype_from_name(std::string_view name) noexcept;

/// Returns NumPy's name (`float32`, `bool`, …) or, if NumPy lacks the type, `string`, `bfloat16`, `qint8` and so on.
[[nodiscard]] SMD_EXPORT std::string_view to_string(Dtype dtype) noexcept;

/// Returns the size of one element in bytes; 0 for strings, whose elements differ in length.
[[nodiscard]] SMD_EXPORT std::size_t item_size(Dtype dtype) noexcept;

/// Returns true if the elements are single real numbers: floating point, integers (also quantised ones), booleans.
[[nodiscard]] SMD_EXPORT bool is_real(Dtype dtype) noexcept;

/// Returns true for floating point of 8 to 64 bits.
[[nodiscard]] SMD_EXPORT bool is_floating(Dtype dtype) noexcept;

/// Returns true for complex64 and complex128.
[[nodiscard]] SMD_EXPORT bool is_complex(Dtype dtype) noexcept;

/// Returns NumPy's `dtype.kind` of the elements as stored: `f` (also bfloat16 and float8), `i`, `u`, `b`, `c`, `S`.
[[nodiscard]] SMD_EXPORT char numpy_kind(Dtype dtype) noexcept;

/// Returns the type in which a quantised type's elements are stored (`int8` for `qint8`); any other type itself.
[[nodiscard]] SMD_EXPORT Dtype storage_type(Dtype dtype) noexcept;

}  // namespace smd
