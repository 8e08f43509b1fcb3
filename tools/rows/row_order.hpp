// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/comparison.hpp"
#include "cli/mapped.hpp"
#include "rows/cell.hpp"
#include "rows/output_options.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace smd::detail {
class Pattern;
}

namespace smd::tool {

/// The value of a cell for sorting. Owns its data.
class SortValue {
 public:
  SortValue() = default;
  /// Precondition: not a `JsonCell` that writes.
  explicit SortValue(const Cell& cell);

  /// Less than, equal to or greater than 0, as this value comes before, beside or after the other. Numbers come first,
  /// by their values, complex ones by the real part first; then text in natural order; then NaN; then missing cells.
  /// `descending` reverses only numbers and text: NaN and missing cells are last in either direction.
  [[nodiscard]] int compare(const SortValue& other, bool descending) const noexcept;
  /// Whether it is a number that is, or of which a part is, NaN.
  [[nodiscard]] bool is_nan() const noexcept { return rank_ == Rank::nan; }

 private:
  enum class Rank : std::uint8_t { value, nan, missing };
  friend struct SortVisitor;

  Rank rank_ = Rank::missing;
  bool is_text_ = false;
  bool natural_ = false;       // text of people, not of numbers
  long double number_ = 0;     // exact for 64-bit integers
  long double imaginary_ = 0;  // of complex numbers
  std::string text_;           // text, or the digits of numbers beyond 64 bits
};

/// Keeps rows sorted by some values each, or, with a limit, only the first of them: never more than that many. Rows
/// with equal values stay in the order in which they came. `Payload`: whatever a row is.
template <class Payload>
class SortedRows {
 public:
  /// If there are no keys, rows stay in the order in which they come.
  SortedRows(const std::vector<SortKey>& keys, std::optional<std::uint64_t> limit)
      : descending_(mapped(keys, &SortKey::descending)), limit_(limit) {}

  /// One value for each key. `make()` gives the payload; it is not called for a row that is not kept.
  template <class Make>
  void add(std::vector<SortValue> values, Make&& make) {
    const std::uint64_t number = next_++;
    if (!limit_ || rows_.size() < *limit_) {
      rows_.push_back({std::move(values), number, make()});
      if (limit_ && rows_.size() == *limit_) {
        std::make_heap(rows_.begin(), rows_.end(), before());  // the last of those kept is in front
      }
      return;
    }
    if (rows_.empty() || compare(values, rows_.front().values) >= 0) {
      return;
    }
    std::pop_heap(rows_.begin(), rows_.end(), before());
    rows_.back() = {std::move(values), number, make()};
    std::push_heap(rows_.begin(), rows_.end(), before());
  }

  /// Passes all rows that were kept to `take`, in order, and forgets them.
  template <class Take>
  void take_all(Take&& take) {
    std::ranges::sort(rows_, before());
    for (Row& row : rows_) {
      take(std::move(row.payload));
    }
    rows_.clear();
  }

 private:
  struct Row {
    std::vector<SortValue> values;
    std::uint64_t number;
    Payload payload;
  };

  [[nodiscard]] int compare(const std::vector<SortValue>& a, const std::vector<SortValue>& b) const noexcept {
    int order = 0;
    for (std::size_t i = 0; order == 0 && i < descending_.size(); ++i) {
      order = a[i].compare(b[i], descending_[i]);
    }
    return order;
  }
  [[nodiscard]] auto before() const {
    return [this](const Row& a, const Row& b) {
      const int order = compare(a.values, b.values);
      return order != 0 ? order < 0 : a.number < b.number;
    };
  }

  std::vector<bool> descending_;
  std::optional<std::uint64_t> limit_;
  std::uint64_t next_ = 0;
  std::vector<Row> rows_;
};

/// The number that a condition compares a cell with: `number`, but as the cell's type has it if it prints as `number`,
/// so that a float32 that prints as 0.1 equals 0.1. Not rounded otherwise: an infinity is greater than 1e39.
[[nodiscard]] double threshold_for(const Cell& cell, double number);

/// A condition of --where on one cell of a row. A value that is missing never meets it.
///
/// Numbers are compared as numbers, with `threshold_for`; nan equals nan, and is neither less nor greater than
/// anything; true and false are 1 and 0 beside a number. All else is compared by its text: `=` byte by byte, `<` in
/// natural order unless both texts are numbers, and `~` searches a pattern.
class RowCondition {
 public:
  /// @throws UsageError for a pattern that does not compile.
  explicit RowCondition(const Comparison& comparison);

  /// @throws UsageError if the order of a number and of other text is asked for.
  [[nodiscard]] bool holds(const Cell& cell);
  [[nodiscard]] const Comparison& comparison() const noexcept { return comparison_; }

 private:
  Comparison comparison_;
  std::optional<double> number_;              // what the value is as a number
  std::shared_ptr<detail::Pattern> pattern_;  // null for other relations
  std::string text_;
};

/// Says that no row meets all of --where, with status 1.
void say_no_row(const std::vector<Comparison>& where, Diagnostics& messages);

}  // namespace smd::tool
