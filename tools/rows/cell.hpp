// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/number_format.hpp"

#include <smd/elements.hpp>
#include <smd/tensor.hpp>

#include <algorithm>
#include <cmath>
#include <compare>
#include <complex>
#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
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

/// A number of any length, or other JSON, by its text, which is the same in text and in JSON. Borrowed.
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

template <class Type, class Variant>
inline constexpr bool is_alternative = false;
template <class Type, class... Types>
inline constexpr bool is_alternative<Type, std::variant<Types...>> = (std::is_same_v<Type, Types> || ...);
template <class Type, class Variant>
concept AlternativeOf = is_alternative<Type, Variant>;
template <class Type, class Variant>
concept OtherIntegerThan = std::integral<Type> && !is_alternative<Type, Variant>;

/// One value of a row. Strings, lists and shapes are borrowed until `RowWriter::row` returns.
class Cell {
 public:
  using Value = std::variant<Missing, bool, std::int64_t, std::uint64_t, float, double, Half, BFloat16,
                             std::complex<float>, std::complex<double>, std::string_view, ListCell, ShapeCell, JsonCell,
                             NumeralCell, PlaceCell, CurveCell, IndexCell>;

  Cell() noexcept = default;  ///< Missing.
  // Cells are made in row lists: no constructor is explicit.
  template <AlternativeOf<Value> Type>
  Cell(Type value) noexcept : value_(value) {}  // NOLINT(google-explicit-constructor)
  template <OtherIntegerThan<Value> Integer>
  Cell(Integer number) noexcept  // NOLINT(google-explicit-constructor)
      : value_(static_cast<std::conditional_t<std::is_signed_v<Integer>, std::int64_t, std::uint64_t>>(number)) {}
  template <class Type>
  Cell(const std::optional<Type>& value) noexcept : Cell(value ? Cell(*value) : Cell()) {}  // NOLINT
  Cell(GlobalStep step) noexcept : value_(step.value) {}                                    // NOLINT
  Cell(ModeStep step) noexcept : value_(step.value) {}                                      // NOLINT
  Cell(const std::string& text) noexcept : value_(std::string_view(text)) {}                // NOLINT
  Cell(const char* text) noexcept : value_(std::string_view(text)) {}                       // NOLINT

  [[nodiscard]] const Value& value() const noexcept { return value_; }
  [[nodiscard]] bool missing() const noexcept { return value_.index() == 0; }

 private:
  Value value_;
};

/// A text; missing if it is empty.
[[nodiscard]] inline Cell or_missing(std::string_view text) noexcept { return text.empty() ? Cell() : Cell(text); }
/// A time; missing if it is unknown: nullopt or NaN.
[[nodiscard]] inline Cell or_missing(std::optional<double> seconds) noexcept {
  return seconds && !std::isnan(*seconds) ? Cell(*seconds) : Cell();
}

/// A cell as a double; NaN if it is no real number.
[[nodiscard]] double as_double(const Cell& cell);

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

/// `2023-11-14T22:13:20.500000Z`, as RFC 3339 has it. Empty for a time outside the years 1 to 9999.
[[nodiscard]] std::string time_text(double seconds_since_1970);

/// `Column::show` of seconds since 1970: `2023-11-14 22:13:20Z`.
void show_date(std::string& out, const Cell& cell, int precision);

/// A value of a hyperparameter.
class HpValue {
 public:
  explicit HpValue(std::string json);

  [[nodiscard]] const std::string& json() const noexcept { return json_; }
  /// Text without quotes, a number by its digits or as `nan` and `inf`, a list as JSON. A text that is a number, as
  /// YAML reads 1e-4, is one, but not `for_json`. Borrows from this.
  [[nodiscard]] Cell cell(bool for_json = false) const;

  /// Numbers are equal by their values, also as texts, and `true` is to the text true: YAML's values are texts, W&B's
  /// have types.
  [[nodiscard]] bool operator==(const HpValue& other) const;

 private:
  std::string json_;
  std::string text_;
};

}  // namespace smd::tool
