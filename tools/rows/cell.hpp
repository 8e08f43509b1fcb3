// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/number_format.hpp"

#include <smd/elements.hpp>
#include <smd/tensor.hpp>

#include <algorithm>
#include <compare>
#include <complex>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

namespace smd::tool {

class OutputFile;

/// Nothing: `NA` in text, null in JSON.
struct Missing {};

/// A list of strings: joined by `,` in text, an array in JSON. Borrowed.
struct ListCell {
  std::span<const std::string> items;
};

/// A shape: `64x3x7x7` or `scalar` in text, an array of numbers in JSON. Borrowed.
struct ShapeCell {
  std::span<const std::int64_t> sizes;
};

/// The index of an element: `0,3,1` in text, an array of numbers in JSON. Borrowed.
struct IndexCell {
  std::span<const std::int64_t> places;
};

/// Writes a JSON value of its own making (nested arrays) straight to the output. Only for columns that no text format
/// shows; text formats print `NA`. Borrowed.
struct JsonCell {
  const std::function<void(OutputFile&)>* write = nullptr;
};

/// A number of any length by its text, which is the same in text and in JSON. Borrowed.
struct NumeralCell {
  std::string_view text;
};

/// Where a record was written: the order in which the job saved. Only to sort by; formats do not show it.
struct PlaceCell {
  std::int64_t step = 0;
  std::uint64_t offset = 0;  ///< In the event file.

  auto operator<=>(const PlaceCell&) const = default;
};

/// A curve of some numbers, in tables; other formats do not show it. Borrowed.
struct CurveCell {
  std::span<const double> numbers;
};

/// One value of a row. Strings, lists and shapes are borrowed until `RowWriter::row` returns.
class Cell {
 public:
  using Value = std::variant<Missing, bool, std::int64_t, std::uint64_t, float, double, Half, BFloat16,
                             std::complex<float>, std::complex<double>, std::string_view, ListCell, ShapeCell, JsonCell,
                             NumeralCell, PlaceCell, CurveCell, IndexCell>;

  Cell() noexcept = default;  ///< Missing.
  Cell(Missing) noexcept {}   // NOLINT(google-explicit-constructor): cells are made in row lists, here and below
  Cell(bool truth) noexcept : value_(truth) {}                                // NOLINT
  Cell(float number) noexcept : value_(number) {}                             // NOLINT
  Cell(double number) noexcept : value_(number) {}                            // NOLINT
  Cell(Half number) noexcept : value_(number) {}                              // NOLINT
  Cell(BFloat16 number) noexcept : value_(number) {}                          // NOLINT
  Cell(std::complex<float> number) noexcept : value_(number) {}               // NOLINT
  Cell(std::complex<double> number) noexcept : value_(number) {}              // NOLINT
  Cell(std::string_view text) noexcept : value_(text) {}                      // NOLINT
  Cell(const std::string& text) noexcept : value_(std::string_view(text)) {}  // NOLINT
  Cell(const char* text) noexcept : value_(std::string_view(text)) {}         // NOLINT
  Cell(ListCell list) noexcept : value_(list) {}                              // NOLINT
  Cell(ShapeCell shape) noexcept : value_(shape) {}                           // NOLINT
  Cell(IndexCell index) noexcept : value_(index) {}                           // NOLINT
  Cell(JsonCell json) noexcept : value_(json) {}                              // NOLINT
  Cell(NumeralCell numeral) noexcept : value_(numeral) {}                     // NOLINT
  Cell(CurveCell curve) noexcept : value_(curve) {}                           // NOLINT
  Cell(PlaceCell place) noexcept : value_(place) {}                           // NOLINT
  template <class Integer, class = std::enable_if_t<std::is_integral_v<Integer>>>
  Cell(Integer number) noexcept {  // NOLINT
    if constexpr (std::is_signed_v<Integer>) {
      value_ = static_cast<std::int64_t>(number);
    } else {
      value_ = static_cast<std::uint64_t>(number);
    }
  }

  [[nodiscard]] const Value& value() const noexcept { return value_; }
  [[nodiscard]] bool missing() const noexcept { return value_.index() == 0; }

 private:
  Value value_;
};

/// Appends a cell as plain text, unescaped: `NA`, `true`, `64x3`, `a,b`, `1.5-2j`.
void append_text(std::string& out, const Cell& cell, int precision);

/// Appends a cell as JSON. A JsonCell cannot be appended: formats write it themselves. Returns false if a string was
/// not UTF-8.
bool append_json_cell(std::string& out, const Cell& cell, int precision, NonFinite style);

/// Where the first record of an entry was written.
[[nodiscard]] inline PlaceCell place_of(const TensorEntry& entry) noexcept {
  PlaceCell place{entry.step.value, std::numeric_limits<std::uint64_t>::max()};
  if (entry.value) {
    place.offset = entry.value->offset;
  }
  for (const SavedReduction& reduction : entry.reductions) {
    place.offset = std::min(place.offset, reduction.place.offset);
  }
  return place;
}

}  // namespace smd::tool
