// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/dtype.hpp>

#include <cstdint>
#include <string_view>

namespace smd::detail {

/// The values are NumPy's letters (`numpy_kind`).
enum class ElementKind : char {
  floating = 'f',
  integer = 'i',
  natural = 'u',
  boolean = 'b',
  complex = 'c',
  string = 'S',
};

/// Properties of an element type. To add one, add its number in smd/dtype.hpp and its row here. If it has a new bit
/// layout, also add the conversion to numbers (smd/elements.hpp) and the formatting (tools/rows/elements.hpp).
struct DtypeFacts {
  Dtype dtype;
  std::string_view name;
  std::uint8_t item_size;  ///< Bytes of an element; 0 if elements differ in length.
  ElementKind kind;
  Dtype storage;  ///< The type whose elements are stored.
};

// clang-format off
inline constexpr DtypeFacts dtype_table[] = {
    {Dtype::float32, "float32", 4, ElementKind::floating, Dtype::float32},
    {Dtype::float64, "float64", 8, ElementKind::floating, Dtype::float64},
    {Dtype::int32, "int32", 4, ElementKind::integer, Dtype::int32},
    {Dtype::uint8, "uint8", 1, ElementKind::natural, Dtype::uint8},
    {Dtype::int16, "int16", 2, ElementKind::integer, Dtype::int16},
    {Dtype::int8, "int8", 1, ElementKind::integer, Dtype::int8},
    {Dtype::string, "string", 0, ElementKind::string, Dtype::string},
    {Dtype::complex64, "complex64", 8, ElementKind::complex, Dtype::complex64},
    {Dtype::int64, "int64", 8, ElementKind::integer, Dtype::int64},
    {Dtype::boolean, "bool", 1, ElementKind::boolean, Dtype::boolean},
    {Dtype::qint8, "qint8", 1, ElementKind::integer, Dtype::int8},
    {Dtype::quint8, "quint8", 1, ElementKind::natural, Dtype::uint8},
    {Dtype::qint32, "qint32", 4, ElementKind::integer, Dtype::int32},
    {Dtype::bfloat16, "bfloat16", 2, ElementKind::floating, Dtype::bfloat16},
    {Dtype::qint16, "qint16", 2, ElementKind::integer, Dtype::int16},
    {Dtype::quint16, "quint16", 2, ElementKind::natural, Dtype::uint16},
    {Dtype::uint16, "uint16", 2, ElementKind::natural, Dtype::uint16},
    {Dtype::complex128, "complex128", 16, ElementKind::complex, Dtype::complex128},
    {Dtype::float16, "float16", 2, ElementKind::floating, Dtype::float16},
    {Dtype::uint32, "uint32", 4, ElementKind::natural, Dtype::uint32},
    {Dtype::uint64, "uint64", 8, ElementKind::natural, Dtype::uint64},
    {Dtype::float8_e5m2, "float8_e5m2", 1, ElementKind::floating, Dtype::float8_e5m2},
    {Dtype::float8_e4m3fn, "float8_e4m3fn", 1, ElementKind::floating, Dtype::float8_e4m3fn},
    {Dtype::float8_e4m3fnuz, "float8_e4m3fnuz", 1, ElementKind::floating, Dtype::float8_e4m3fnuz},
    {Dtype::float8_e5m2fnuz, "float8_e5m2fnuz", 1, ElementKind::floating, Dtype::float8_e5m2fnuz},
    {Dtype::float8_e8m0fnu, "float8_e8m0fnu", 1, ElementKind::floating, Dtype::float8_e8m0fnu},
};
// clang-format on

}  // namespace smd::detail
