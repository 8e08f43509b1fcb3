// SPDX-License-Identifier: Apache-2.0
#include <smd/dtype.hpp>

namespace smd {

std::string_view to_string(Dtype dtype) noexcept {
  switch (dtype) {
    case Dtype::float32:
      return "float32";
    case Dtype::float64:
      return "float64";
    case Dtype::int32:
      return "int32";
    case Dtype::uint8:
      return "uint8";
    case Dtype::int16:
      return "int16";
    case Dtype::int8:
      return "int8";
    case Dtype::string:
      return "string";
    case Dtype::complex64:
      return "complex64";
    case Dtype::int64:
      return "int64";
    case Dtype::boolean:
      return "bool";
    case Dtype::qint8:
      return "qint8";
    case Dtype::quint8:
      return "quint8";
    case Dtype::qint32:
      return "qint32";
    case Dtype::bfloat16:
      return "bfloat16";
    case Dtype::qint16:
      return "qint16";
    case Dtype::quint16:
      return "quint16";
    case Dtype::uint16:
      return "uint16";
    case Dtype::complex128:
      return "complex128";
    case Dtype::float16:
      return "float16";
    case Dtype::uint32:
      return "uint32";
    case Dtype::uint64:
      return "uint64";
  }
  return "unknown";
}

std::size_t item_size(Dtype dtype) noexcept {
  switch (dtype) {
    case Dtype::string:
      return 0;
    case Dtype::int8:
    case Dtype::uint8:
    case Dtype::boolean:
    case Dtype::qint8:
    case Dtype::quint8:
      return 1;
    case Dtype::int16:
    case Dtype::uint16:
    case Dtype::qint16:
    case Dtype::quint16:
    case Dtype::float16:
    case Dtype::bfloat16:
      return 2;
    case Dtype::float32:
    case Dtype::int32:
    case Dtype::uint32:
    case Dtype::qint32:
      return 4;
    case Dtype::float64:
    case Dtype::int64:
    case Dtype::uint64:
    case Dtype::complex64:
      return 8;
    case Dtype::complex128:
      return 16;
  }
  return 0;
}

bool is_real(Dtype dtype) noexcept { return dtype != Dtype::string && !is_complex(dtype); }

bool is_floating(Dtype dtype) noexcept {
  return dtype == Dtype::float16 || dtype == Dtype::bfloat16 || dtype == Dtype::float32 || dtype == Dtype::float64;
}

bool is_complex(Dtype dtype) noexcept { return dtype == Dtype::complex64 || dtype == Dtype::complex128; }

Dtype storage_type(Dtype dtype) noexcept {
  switch (dtype) {
    case Dtype::qint8:
      return Dtype::int8;
    case Dtype::quint8:
      return Dtype::uint8;
    case Dtype::qint16:
      return Dtype::int16;
    case Dtype::quint16:
      return Dtype::uint16;
    case Dtype::qint32:
      return Dtype::int32;
    default:
      return dtype;
  }
}

}  // namespace smd
