// SPDX-License-Identifier: Apache-2.0
#include "rows/row_order.hpp"

#include "cli/exit_status.hpp"
#include "cli/text.hpp"
#include "rows/elements.hpp"
#include "text/number.hpp"
#include "text/pattern.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
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

/// Whether conditions take a cell as a number. A numeral may be any JSON.
bool is_number(const Cell& cell) {
  return std::visit(
      []<class Value>(const Value& value) {
        if constexpr (std::is_same_v<Value, NumeralCell>) {
          return text::number_of(value.text).has_value();
        } else {
          return requires(char* out) { write_number(out, value); };
        }
      },
      cell.value());
}

/// What a number in a cell is compared with: a condition's value by its text or, rounded, its threshold.
Cell compared_with(const Cell& cell, std::string_view text, double threshold) {
  return std::visit(
      [&]<class Value>(const Value&) -> Cell {
        if constexpr (std::is_same_v<Value, NumeralCell>) {
          return NumeralCell{text};
        } else if constexpr (std::is_same_v<Value, std::int64_t> || std::is_same_v<Value, std::uint64_t>) {
          const std::optional<Value> integer = text::parsed<Value>(text);
          return integer ? Cell(*integer) : Cell(threshold);
        } else {
          return threshold;
        }
      },
      cell.value());
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
    if (!text::number_of(numeral.text)) {
      (*this)(numeral.text);
      return;
    }
    const std::string digits(numeral.text);
    set_number(std::strtold(digits.c_str(), nullptr));
    if (digits.size() <= std::numeric_limits<std::uint64_t>::digits10 ||
        digits.find_first_not_of("0123456789", digits.front() == '-' ? 1 : 0) != std::string::npos) {
      return;  // 1.0 and 1 are equal
    }
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

double threshold_for(const Cell& cell, double number) {
  const Cell narrowed = std::visit(
      [number]<class Value>(const Value&) {
        return element_cell<std::conditional_t<std::is_same_v<Value, std::complex<float>>, float, Value>>(number);
      },
      cell.value());
  const double rounded = as_double(narrowed);
  std::string text;
  if (rounded != number) {
    append_text(text, narrowed, 0);
  }
  return text::number_of(text) == number ? rounded : number;
}

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
  if (number_ && relation != Relation::matches && is_number(cell)) {
    const SortValue own(cell);
    const bool nan = own.is_nan();
    if (nan || std::isnan(*number_)) {
      const bool both = nan && std::isnan(*number_);
      return relation == Relation::equal ? both : relation == Relation::unequal && !both;
    }
    const Cell value = compared_with(cell, comparison_.value, threshold_for(cell, *number_));
    return tool::holds(relation, own.compare(SortValue(value), false));
  }
  text_.clear();
  append_text(text_, cell, 0);
  switch (relation) {
    case Relation::matches:
      try {
        return pattern_->found(text_);
      } catch (const MatchLimit& error) {
        throw UsageError(std::string("--where: ") + error.what());
      }
    case Relation::equal:
    case Relation::unequal:
      return tool::holds(relation, text_.compare(comparison_.value));
    case Relation::less:
    case Relation::at_most:
    case Relation::greater:
    case Relation::at_least:
      break;
  }
  if (number_ && text::number_of(text_)) {
    return holds(Cell(text::number_of(text_)));  // hyperparameters may be numbers that were logged as text
  }
  refuse_if(!number_ && is_number(cell) && !std::holds_alternative<bool>(cell.value()),
            "--where: " + single_quoted(comparison_.text) + ": " + single_quoted(comparison_.value) +
                " is no number, and " + comparison_.name + " is one");
  return tool::holds(relation, SortValue(Cell(text_)).compare(SortValue(Cell(comparison_.value)), false));
}

void say_no_row(const std::vector<Comparison>& where, Diagnostics& messages) {
  const std::string conditions = fmt::format("{}", fmt::join(mapped(where, &Comparison::text), " and "));
  messages.nothing("TensorUnavailable", "--where: no row with " + single_quoted(conditions));
}

}  // namespace smd::tool
