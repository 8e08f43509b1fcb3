// SPDX-License-Identifier: Apache-2.0
#include "rows/row_condition.hpp"

#include "cli/errors.hpp"
#include "cli/text.hpp"
#include "rows/row_order.hpp"
#include "text/half.hpp"
#include "text/number.hpp"
#include "text/pattern.hpp"

#include <charconv>
#include <cmath>
#include <type_traits>

namespace smd::tool {

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
    Integer integer = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), integer);
    return error == std::errc() && rest == text.data() + text.size() ? Cell(integer) : Cell(number);
  }
};

bool is_nan(const Cell& cell) {
  return std::visit(
      []<class Value>(const Value& value) {
        if constexpr (std::is_floating_point_v<Value>) {
          return std::isnan(value);
        } else if constexpr (std::is_same_v<Value, Half> || std::is_same_v<Value, BFloat16>) {
          return std::isnan(to_float(value));
        } else {
          return false;
        }
      },
      cell.value());
}

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
      const bool nan = is_nan(cell);
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
