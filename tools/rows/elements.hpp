// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <complex>
#include <cstdint>
#include <cstring>
#include <deque>
#include <smd/tensor_view.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "rows/cell.hpp"
#include "rows/float8_numbers.hpp"

namespace smd::tool {

static_assert(std::endian::native == std::endian::little, "elements are loaded as they lie in files");

/// The C++ type of a number type's elements, wrapped: `visit_number_type(dtype, [](auto tag) { using T = typename
/// decltype(tag)::type; … })`. Quantised types are their integers. Precondition: neither strings nor 8-bit floats.
template <class Type>
struct TypeTag {
  using type = Type;
};

template <class Visit>
decltype(auto) visit_number_type(Dtype dtype, Visit&& visit) {
  switch (storage_type(dtype)) {
    case Dtype::float64:
      return visit(TypeTag<double>());
    case Dtype::float16:
      return visit(TypeTag<Half>());
    case Dtype::bfloat16:
      return visit(TypeTag<BFloat16>());
    case Dtype::int8:
      return visit(TypeTag<std::int8_t>());
    case Dtype::int16:
      return visit(TypeTag<std::int16_t>());
    case Dtype::int32:
      return visit(TypeTag<std::int32_t>());
    case Dtype::int64:
      return visit(TypeTag<std::int64_t>());
    case Dtype::uint8:
      return visit(TypeTag<std::uint8_t>());
    case Dtype::uint16:
      return visit(TypeTag<std::uint16_t>());
    case Dtype::uint32:
      return visit(TypeTag<std::uint32_t>());
    case Dtype::uint64:
      return visit(TypeTag<std::uint64_t>());
    case Dtype::boolean:
      return visit(TypeTag<bool>());
    case Dtype::complex64:
      return visit(TypeTag<std::complex<float>>());
    case Dtype::complex128:
      return visit(TypeTag<std::complex<double>>());
    default:
      return visit(TypeTag<float>());
  }
}

template <class Type>
[[nodiscard]] Type load(const std::byte* at) noexcept {
  if constexpr (std::is_same_v<Type, bool>) {
    return *at != std::byte{0};
  } else {
    Type number;
    std::memcpy(static_cast<void*>(&number), at, sizeof number);
    return number;
  }
}

/// The number as a double; not for complex types.
template <class Type>
[[nodiscard]] double as_double(Type number) noexcept {
  if constexpr (std::is_same_v<Type, Half> || std::is_same_v<Type, BFloat16>) {
    return static_cast<double>(to_float(number));
  } else {
    return static_cast<double>(number);
  }
}

/// Single elements of a view, by their place in C order. Borrows the view's bytes. In strings, each byte that is not
/// part of valid UTF-8 becomes U+FFFD: printed text is always valid.
class Elements {
 public:
  /// What becomes of bytes that are not text.
  enum class NotText : std::uint8_t {
    repaired,
    sized,  ///< The whole string is shown by its length: `(4096 bytes)`.
  };

  explicit Elements(const TensorView& view, NotText not_text = NotText::repaired);
  Elements(const Elements&) = delete;
  Elements& operator=(const Elements&) = delete;

  /// Whether all strings are valid UTF-8, so that none was changed.
  [[nodiscard]] bool utf8() const noexcept { return repaired_.empty(); }

  [[nodiscard]] Cell cell(std::uint64_t place) const {
    if (view_.dtype() == Dtype::string) {
      return strings_[place];
    }
    if (float8_ != nullptr) {
      return (*float8_)[std::to_integer<std::size_t>(*at(place))];
    }
    return visit_number_type(view_.dtype(),
                             [&](auto tag) { return Cell(load<typename decltype(tag)::type>(at(place))); });
  }

  /// Precondition: `is_real`.
  [[nodiscard]] double number(std::uint64_t place) const {
    if (float8_ != nullptr) {
      return static_cast<double>((*float8_)[std::to_integer<std::size_t>(*at(place))]);
    }
    return visit_number_type(view_.dtype(), [&](auto tag) {
      using Type = typename decltype(tag)::type;
      if constexpr (std::is_same_v<Type, std::complex<float>> || std::is_same_v<Type, std::complex<double>>) {
        return 0.0;
      } else {
        return as_double(load<Type>(at(place)));
      }
    });
  }

  [[nodiscard]] const TensorView& view() const noexcept { return view_; }

 private:
  [[nodiscard]] const std::byte* at(std::uint64_t place) const { return view_.bytes().data() + place * item_; }

  TensorView view_;
  std::size_t item_;
  const std::array<float, 256>* float8_;  // null for other types
  std::vector<std::string_view> strings_;
  std::deque<std::string> repaired_;  // whose texts strings_ borrows
};

}  // namespace smd::tool
