// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "rows/cell.hpp"
#include "select/selection.hpp"

#include <smd/reduction.hpp>
#include <smd/step.hpp>
#include <smd/tensor.hpp>

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace smd::tool::reduce {

/// One statistic of a row: nothing, a number in its own type, or an integer beyond 64 bits by its digits.
class Statistic {
 public:
  Statistic() = default;
  explicit Statistic(Cell number) : number_(number) {}
  static Statistic of(const ReducedValue& computed);
  /// The same for a statistic of elements of that type: min, max, median, and mean and sum of one element are in it if
  /// it holds them.
  static Statistic of(const ReducedValue& computed, const Reduction& reduction, Dtype dtype, bool one_element);

  [[nodiscard]] bool missing() const noexcept { return digits_.empty() && number_.missing(); }
  /// For the row writer. Borrows from this.
  [[nodiscard]] Cell cell() const { return digits_.empty() ? number_ : Cell(NumeralCell{digits_}); }
  /// Adds it as one element, in a type that holds it. @pre !missing().
  void add_to(Reducer& reducer) const;
  /// As a double; NaN if missing or complex.
  [[nodiscard]] double number() const;

 private:
  Cell number_;         // never text
  std::string digits_;  // if not empty, in place of it
};

/// What a row pools: step, tensor, worker, row of the tensor. Borrowed from the trial; fields that rows are not grouped
/// by are empty or 0.
using PoolKey = std::tuple<std::int64_t, std::string_view, std::string_view, std::uint64_t>;

/// What a row is of. Borrowed from the trial; fields that rows are not grouped by are not set.
struct RowFacts {
  std::string_view tensor = {};
  std::string_view worker = {};
  GlobalStep step = {};
  Mode mode = Mode::global;
  ModeStep mode_step = {};
  bool superseded = false;
  PlaceCell written = {};                ///< Of the first record that a row pools; not set in rows of shards.
  std::uint64_t row = 0;                 ///< The index on the first axis.
  std::uint64_t trials = 1;              ///< How many have what is pooled.
  std::optional<double> wall_time = {};  ///< Seconds since 1970; of one value only.

  static RowFacts of(const TensorEntry& entry, By by);
  [[nodiscard]] PoolKey key() const { return {step.value, tensor, worker, row}; }
};

/// One row of results. Names and statistics are valid until the view's `row` returns.
struct ResultRow : RowFacts {
  std::string_view source;  ///< Empty if no statistic exists.
  std::span<const Statistic> statistics;
  bool selected = true;           ///< False: only computed to be smoothed.
  std::optional<double> elapsed;  ///< Seconds since the trial's first value, if that is asked for.
  std::uint64_t count = 0;        ///< This and the next for shards only.
  std::string partial;
};

/// One column of statistics.
struct Wanted {
  std::string name;
  std::optional<Reduction> reduction;  ///< Nullopt: a name that only the job knows; cannot be computed.
  bool saved_only = false;             ///< Asked for as one of `saved`: not computed, unless --source says so.
};

/// The reductions that a `-r` list names, each once, in the order asked; the word `saved` stands for the names in
/// `saved`.
/// @throws UsageError for an unknown name.
[[nodiscard]] std::vector<Wanted> wanted_reductions(const std::vector<std::string>& list, bool abs,
                                                    const std::set<std::string>& saved);

/// The names of all reductions but percentiles, in the order of the help: those of x, of |x|, and those without an
/// `abs_` form.
[[nodiscard]] std::vector<std::string> reduction_words();

/// The reduction that pools a statistic of several arrays into that of all of them: min, max, sum, prod or l2. Nullopt
/// if none does.
[[nodiscard]] std::optional<Reduction> pooling_of(const Wanted& wanted) noexcept;

}  // namespace smd::tool::reduce
