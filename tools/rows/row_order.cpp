// SPDX-License-Identifier: Apache-2.0
#include "rows/row_order.hpp"

#include "cli/text.hpp"

#include <cmath>
#include <cstdlib>
#include <string_view>
#include <type_traits>

namespace smd::tool {

namespace {

int three_way(long double a, long double b) noexcept { return a < b ? -1 : a > b ? 1 : 0; }

// Big-endian with the sign bit flipped: byte order is the order of the numbers.
void append_ordered(std::string& text, std::int64_t number) {
  const std::uint64_t bits = static_cast<std::uint64_t>(number) ^ (std::uint64_t{1} << 63);
  for (int shift = 56; shift >= 0; shift -= 8) {
    text += static_cast<char>((bits >> shift) & 0xFF);
  }
}

}  // namespace

struct SortVisitor {
  SortValue& to;

  void operator()(Missing) const {}
  void operator()(JsonCell) const {}
  void operator()(CurveCell) const {}
  void operator()(std::string_view text) const {
    set_text(std::string(text));
    to.natural_ = true;
  }
  void operator()(ListCell list) const {
    std::string text;
    for (const std::string& item : list.items) {
      text += item;
      text += '\0';  // sorts before anything that may follow in a longer item
    }
    set_text(std::move(text));
  }
  void operator()(ShapeCell shape) const { set_numbers(shape.sizes); }
  void operator()(IndexCell index) const { set_numbers(index.places); }
  void operator()(PlaceCell place) const {
    std::string text;
    append_ordered(text, place.step);
    append_ordered(text, static_cast<std::int64_t>(place.offset ^ (std::uint64_t{1} << 63)));
    set_text(std::move(text));
  }
  void operator()(NumeralCell numeral) const {
    const std::string digits(numeral.text);
    set_number(std::strtold(digits.c_str(), nullptr));
    // Different numerals may be equal as long doubles. Digits of the same sign and length compare as text does.
    to.text_ = digits;
    for (char& digit : to.text_) {
      if (digits.front() == '-' && digit != '-') {
        digit = static_cast<char>('0' + '9' - digit);
      }
    }
  }
  template <class Part>
  void operator()(const std::complex<Part>& number) const {
    set_number(static_cast<long double>(number.real()));
    to.imaginary_ = static_cast<long double>(number.imag());
    if (std::isnan(number.imag())) {
      to.rank_ = SortValue::Rank::nan;
    }
  }
  template <class Number>
  void operator()(Number number) const {
    if constexpr (std::is_same_v<Number, Half> || std::is_same_v<Number, BFloat16>) {
      set_number(static_cast<long double>(to_float(number)));
    } else {
      set_number(static_cast<long double>(number));
    }
  }

 private:
  void set_numbers(std::span<const std::int64_t> numbers) const {
    std::string text;
    for (const std::int64_t number : numbers) {
      append_ordered(text, number);
    }
    set_text(std::move(text));
  }
  void set_number(long double number) const {
    to.rank_ = std::isnan(number) ? SortValue::Rank::nan : SortValue::Rank::value;
    to.number_ = number;
  }
  void set_text(std::string text) const {
    to.rank_ = SortValue::Rank::value;
    to.is_text_ = true;
    to.text_ = std::move(text);
  }
};

SortValue::SortValue(const Cell& cell) { std::visit(SortVisitor{*this}, cell.value()); }

int SortValue::compare(const SortValue& other, bool descending) const noexcept {
  if (rank_ != other.rank_) {
    return rank_ < other.rank_ ? -1 : 1;
  }
  if (rank_ != Rank::value) {
    return 0;
  }
  int order = is_text_ == other.is_text_ ? 0 : is_text_ ? 1 : -1;
  if (order == 0 && !is_text_) {
    order = three_way(number_, other.number_);
    order = order != 0 ? order : three_way(imaginary_, other.imaginary_);
  }
  if (order == 0 && natural_ && other.natural_ && text_ != other.text_) {
    const bool before = naturally_before(text_, other.text_);
    order = before || naturally_before(other.text_, text_) ? (before ? -1 : 1) : 0;
  }
  order = order != 0 ? order : text_.compare(other.text_);
  return descending ? -order : order;
}

}  // namespace smd::tool
