// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <smd/elements.hpp>
#include <smd/reduction.hpp>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "rows/cell.hpp"
#include "text/half.hpp"

namespace smd::tool {

/// Single elements of a view, by their place in C order. Borrows the view's bytes. In strings, each byte that is not
/// part of valid UTF-8 becomes U+FFFD: printed text is always valid. Pictures and sounds are shown by their length:
/// `(4096 bytes)`.
class Elements {
 public:
  /// What becomes of bytes that are not text.
  enum class NotText : std::uint8_t {
    repaired,
    sized,  ///< The whole string is shown by its length.
  };

  explicit Elements(const TensorView& view, NotText not_text = NotText::repaired);
  Elements(const Elements&) = delete;
  Elements& operator=(const Elements&) = delete;

  /// Whether all strings are valid UTF-8, so that none was changed.
  [[nodiscard]] bool utf8() const noexcept { return repaired_.empty(); }
  /// Whether some string is shown by its length.
  [[nodiscard]] bool sized() const noexcept { return sized_; }

  [[nodiscard]] Cell cell(std::uint64_t place) const {
    if (view_.dtype() == Dtype::string) {
      return strings_[place];
    }
    return visit_elements(view_, [place](const auto& elements) { return Cell(elements.stored(place)); });
  }

  /// Precondition: `is_real`.
  [[nodiscard]] double number(std::uint64_t place) const {
    return visit_numbers(view_, [place](const auto& elements) { return static_cast<double>(elements[place]); });
  }

  [[nodiscard]] const TensorView& view() const noexcept { return view_; }

 private:
  TensorView view_;
  std::vector<std::string_view> strings_;
  std::deque<std::string> repaired_;  // whose texts strings_ borrows
  bool sized_ = false;
};

/// The places on each axis of an element, by its place in C order.
[[nodiscard]] std::vector<std::int64_t> index_of(std::uint64_t place, std::span<const std::int64_t> shape);

/// Returns what files of these bytes are called if they are a picture or sound as logs have them: `png`, `jpg`, `gif`
/// or `wav`; else an empty text.
[[nodiscard]] std::string_view media_extension(std::string_view bytes) noexcept;

/// A number that an element of a real type has, as the cell of such an element: it prints as the type does.
template <class Stored>
[[nodiscard]] Cell element_cell(double number) {
  if constexpr (std::is_same_v<Stored, Half>) {
    return Half{detail::half_bits(number)};
  } else if constexpr (std::is_same_v<Stored, BFloat16>) {
    return BFloat16{detail::bfloat16_bits(static_cast<float>(number))};
  } else if constexpr (std::is_same_v<Stored, float> || std::is_same_v<Stored, Float8>) {
    return static_cast<float>(number);
  } else {
    return number;
  }
}
[[nodiscard]] Cell element_cell(double number, Dtype dtype);

/// A statistic as a cell; missing if it is undefined, or an integer beyond 64 bits.
[[nodiscard]] Cell reduced_cell(const ReducedValue& value);

}  // namespace smd::tool
