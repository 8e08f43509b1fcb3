// SPDX-License-Identifier: Apache-2.0
#include "rows/row_order.hpp"

#include "cli/exit_status.hpp"
#include "cli/text.hpp"
#include "text/half.hpp"
#include "text/number.hpp"
#include "text/pattern.hpp"

#include <array>
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
    // The offset has no sign: the bit that is one is flipped twice.
    set_numbers(std::array{place.step, static_cast<std::int64_t>(place.offset ^ (std::uint64_t{1} << 63))});
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

namespace {

/// Makes of a condition's value a cell like the one that it is compared with; missing if that is no number.
struct LikeVisitor {
  std::string_view text;
  double number;

  Cell operator()(float) const { return static_cast<float>(number); }
  Cell operator()(double) const { return number; }
  Cell operator()(Half) const { return Half{detail::half_bits(number)}; }
  Cell operator()(BFloat16) const { return BFloat16{detail::bfloat16_bits(static_cast<float>(number))}; }
  Cell operator()(std::int64_t) const { return exact<std::int64_t>(); }
  Cell operator()(std::uint64_t) const { return exact<std::uint64_t>(); }
  Cell operator()(NumeralCell) const { return NumeralCell{text}; }
  template <class Other>
  Cell operator()(const Other&) const {
    return {};
  }

 private:
  template <class Integer>
  [[nodiscard]] Cell exact() const {
    const auto integer = text::parsed<Integer>(text);
    return integer ? Cell(*integer) : Cell(number);
  }
};

}  // namespace

RowCondition::RowCondition(const Comparison& comparison)
    : comparison_(comparison), number_(text::number_of(comparison.value)) {
  if (comparison.relation == Relation::matches) {
    pattern_ = std::make_shared<detail::Pattern>();
    if (const auto error = pattern_->compile(comparison.value)) {
      throw UsageError("--where: " + single_quoted(comparison.value) + ": " + *error);
    }
  }
}

bool RowCondition::holds(const Cell& cell) {
  if (cell.missing()) {
    return false;
  }
  const Relation relation = comparison_.relation;
  if (number_ && relation != Relation::matches) {
    const Cell value = std::visit(LikeVisitor{comparison_.value, *number_}, cell.value());
    if (!value.missing()) {
      const bool nan = std::isnan(as_double(cell));
      if (nan || std::isnan(*number_)) {
        const bool both = nan && std::isnan(*number_);
        return relation == Relation::equal ? both : relation == Relation::unequal && !both;
      }
      return tool::holds(relation, SortValue(cell).compare(SortValue(value), false));
    }
  }
  text_.clear();
  append_text(text_, cell, 0);
  switch (relation) {
    case Relation::matches:
      return pattern_->search(text_) == detail::Pattern::Answer::yes;
    case Relation::equal:
    case Relation::unequal:
      return tool::holds(relation, text_.compare(comparison_.value));
    case Relation::less:
    case Relation::at_most:
    case Relation::greater:
    case Relation::at_least:
      break;
  }
  return tool::holds(relation, SortValue(Cell(text_)).compare(SortValue(Cell(comparison_.value)), false));
}

}  // namespace smd::tool
