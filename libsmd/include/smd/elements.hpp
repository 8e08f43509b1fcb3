// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/dtype.hpp>
#include <smd/export.hpp>
#include <smd/tensor_view.hpp>

#include <array>
#include <bit>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

/// The elements of a view, whatever their type. To reduce a view, see `reduction.hpp`, which is faster and more exact.
namespace smd {

/// A float16 element (IEEE 754 binary16), by its bits.
struct Half {
  std::uint16_t bits = 0;
};

/// A bfloat16 element, by its bits: the upper half of a float's.
struct BFloat16 {
  std::uint16_t bits = 0;
};

/// An element of an 8-bit floating-point type, by its code: the element type says which number it means.
struct Float8 {
  std::uint8_t code = 0;
};

/// Returns the number, exactly.
[[nodiscard]] constexpr float to_float(BFloat16 number) noexcept {
  return std::bit_cast<float>(std::uint32_t{number.bits} << 16);
}
[[nodiscard]] constexpr float to_float(Half number) noexcept {
  // Once fraction and exponent are in place, a factor corrects the bias; the highest exponent means infinity or NaN.
  const std::uint32_t magnitude = (number.bits & 0x7FFFU) << 13;
  const std::uint32_t special = (number.bits & 0x7C00U) == 0x7C00U ? 0x7F800000U : 0;
  const std::uint32_t sign = (number.bits & 0x8000U) << 16;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112F) | special |
                              sign);
}

/// Returns the 256 numbers of an 8-bit floating-point type, by code, exactly; null for other types.
[[nodiscard]] SMD_EXPORT const std::array<float, 256>* float8_numbers(Dtype dtype) noexcept;

/// @throws InvalidArgument: elements of this type are no real numbers.
[[noreturn]] SMD_EXPORT void refuse_elements(Dtype dtype);

/// Returns `f(std::type_identity<Stored>())` with the C++ type in which elements are stored: `float`, `double`, `Half`,
/// `BFloat16`, `Float8`, `bool` (one byte), integers from `std::int8_t` to `std::uint64_t`, for quantised types too,
/// `std::complex<float>`, `std::complex<double>` and, for text, `std::string_view`.
/// @throws InvalidArgument if there is no such element type.
template <class F>
decltype(auto) visit_element_type(Dtype dtype, F&& f) {
  switch (dtype) {
    case Dtype::float32:
      return f(std::type_identity<float>());
    case Dtype::float64:
      return f(std::type_identity<double>());
    case Dtype::float16:
      return f(std::type_identity<Half>());
    case Dtype::bfloat16:
      return f(std::type_identity<BFloat16>());
    case Dtype::float8_e5m2:
    case Dtype::float8_e4m3fn:
    case Dtype::float8_e4m3fnuz:
    case Dtype::float8_e5m2fnuz:
    case Dtype::float8_e8m0fnu:
      return f(std::type_identity<Float8>());
    case Dtype::int8:
    case Dtype::qint8:
      return f(std::type_identity<std::int8_t>());
    case Dtype::int16:
    case Dtype::qint16:
      return f(std::type_identity<std::int16_t>());
    case Dtype::int32:
    case Dtype::qint32:
      return f(std::type_identity<std::int32_t>());
    case Dtype::int64:
      return f(std::type_identity<std::int64_t>());
    case Dtype::uint8:
    case Dtype::quint8:
      return f(std::type_identity<std::uint8_t>());
    case Dtype::uint16:
    case Dtype::quint16:
      return f(std::type_identity<std::uint16_t>());
    case Dtype::uint32:
      return f(std::type_identity<std::uint32_t>());
    case Dtype::uint64:
      return f(std::type_identity<std::uint64_t>());
    case Dtype::boolean:
      return f(std::type_identity<bool>());
    case Dtype::complex64:
      return f(std::type_identity<std::complex<float>>());
    case Dtype::complex128:
      return f(std::type_identity<std::complex<double>>());
    case Dtype::string:
      return f(std::type_identity<std::string_view>());
  }
  refuse_elements(dtype);
}

/// The elements of a view by their place in C order, read where they lie. Borrows the view's bytes. No place is
/// checked.
template <class Stored>
class ElementSpan {
 public:
  explicit ElementSpan(const TensorView& view) noexcept
      : bytes_(view.bytes().data()), size_(view.bytes().size() / sizeof(Stored)) {
    if (view.size() < size_) {
      size_ = static_cast<std::size_t>(view.size());
    }
    if constexpr (std::is_same_v<Stored, Float8>) {
      float8_ = float8_numbers(view.dtype())->data();
    }
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  /// Returns an element as it is stored: `Half`, `bool`, `std::int8_t`, …; of 8-bit floating point the number.
  [[nodiscard]] auto stored(std::size_t place) const noexcept {
    if constexpr (std::is_same_v<Stored, bool>) {
      return bytes_[place] != std::byte{0};
    } else if constexpr (std::is_same_v<Stored, Float8>) {
      return float8_[std::to_integer<std::size_t>(bytes_[place])];
    } else {
      Stored element;
      std::memcpy(static_cast<void*>(&element), bytes_ + place * sizeof element, sizeof element);
      return element;
    }
  }

  /// Returns an element as a number to compute with: floating point of 8 and 16 bits as `float`, integers of 8 and 16
  /// bits and booleans as `std::int32_t`, all others as they are stored.
  [[nodiscard]] auto operator[](std::size_t place) const noexcept {
    if constexpr (std::is_same_v<Stored, Half> || std::is_same_v<Stored, BFloat16>) {
      return to_float(stored(place));
    } else if constexpr (std::is_integral_v<Stored> && sizeof(Stored) <= 2) {
      return std::int32_t{stored(place)};
    } else {
      return stored(place);
    }
  }

 private:
  const std::byte* bytes_;
  std::size_t size_;
  const float* float8_ = nullptr;
};

/// Returns `f(ElementSpan<Stored>(view))` with the type in which the numbers are stored: see `visit_element_type`.
/// @throws InvalidArgument for text (see `strings`), and if there is no such element type.
template <class F>
decltype(auto) visit_elements(const TensorView& view, F&& f) {
  using Result = decltype(f(ElementSpan<float>(view)));
  return visit_element_type(view.dtype(), [&]<class Stored>(std::type_identity<Stored>) -> Result {
    if constexpr (std::is_same_v<Stored, std::string_view>) {
      refuse_elements(view.dtype());
    } else {
      return f(ElementSpan<Stored>(view));
    }
  });
}

/// As `visit_elements`, for real numbers. @throws InvalidArgument for complex numbers too.
template <class F>
decltype(auto) visit_numbers(const TensorView& view, F&& f) {
  using Result = decltype(f(ElementSpan<float>(view)));
  return visit_elements(view, [&]<class Stored>(const ElementSpan<Stored>& elements) -> Result {
    if constexpr (std::is_same_v<Stored, std::complex<float>> || std::is_same_v<Stored, std::complex<double>>) {
      refuse_elements(view.dtype());
    } else {
      return f(elements);
    }
  });
}

/// Writes the elements from `first` on into `into`, each as the nearest double (64-bit integers are rounded, booleans
/// are 0 or 1), and returns how many: `into.size()`, or fewer at the end of the view. In C order.
/// @throws InvalidArgument for text and complex numbers.
SMD_EXPORT std::size_t copy_as_doubles(const TensorView& view, std::uint64_t first, std::span<double> into);

/// Returns all elements. @throws as `copy_as_doubles`.
[[nodiscard]] SMD_EXPORT std::vector<double> to_doubles(const TensorView& view);

}  // namespace smd
