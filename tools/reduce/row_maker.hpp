// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <smd/reduction.hpp>
#include <smd/trial.hpp>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "cli/diagnostics.hpp"
#include "options.hpp"
#include "pieces.hpp"
#include "record_result.hpp"
#include "result_view.hpp"
#include "row_plan.hpp"
#include "session.hpp"
#include "statistic.hpp"
#include "unavailable.hpp"

namespace smd::tool::reduce {

/// What a row pools: step, tensor, worker, row of the tensor. Borrowed from the trial; fields that rows are not grouped
/// by are empty or 0.
using PoolKey = std::tuple<std::int64_t, std::string_view, std::string_view, std::uint64_t>;

/// What is known of rows that pool several entries before any record is read: what all of a row's entries have.
class PoolPlans {
 public:
  PoolPlans(const ReduceCommandOptions& options, const std::vector<Wanted>& wanted)
      : options_(options), wanted_(wanted), plans_(wanted) {}

  struct Pool {
    std::size_t members = 0;
    std::size_t values = 0;
    std::size_t trials = 0;
    std::size_t last_trial = 0;
    std::vector<std::size_t> saved = {};  ///< How many have each statistic saved; empty if none has any.
    Mode mode = Mode::global;
    ModeStep mode_step = {};
    bool superseded = false;
    PlaceCell written = {};
    const RowPlan* plan = nullptr;
  };

  [[nodiscard]] PoolKey key_of(const TensorEntry& entry) const {
    return {options_.by.step ? entry.step.value : 0, options_.by.tensor ? entry.tensor : std::string_view(),
            options_.by.worker ? entry.worker : std::string_view(), 0};
  }
  /// Following entries are of another trial.
  void next_trial() noexcept { ++trial_; }
  void note(const TensorEntry& entry);
  /// Sets the plan of each pool, once all entries were noted.
  void finish();
  [[nodiscard]] const Pool& of(const PoolKey& key) const { return pools_.at(key); }
  void clear() { pools_.clear(); }

 private:
  const ReduceCommandOptions& options_;
  const std::vector<Wanted>& wanted_;
  RowPlans plans_;
  std::size_t trial_ = 0;
  std::map<PoolKey, Pool> pools_;
};

/// Makes the rows of one piece after another, and keeps what is made until it is shown. Used by one thread at a time.
class RowMaker {
 public:
  /// `plans`: of rows that pool entries of several pieces. Null: each piece has all entries of its rows.
  RowMaker(const Session& session, const ReduceCommandOptions& options, const std::vector<Wanted>& wanted,
           const ResultView& view, const PoolPlans* plans = nullptr);

  /// Reads, reduces and, if the view takes text, writes the text of all rows of a piece.
  void make(const Piece& piece, ValueReader& reader);
  /// Adds the rows of another piece to those of this one, and pools what belongs to one row.
  void absorb(RowMaker& piece);
  /// Reports problems.
  void say(Diagnostics& messages);
  /// Passes the rows to the view. Returns whether there are any.
  bool show(ResultView& view);

  [[nodiscard]] std::size_t entries() const noexcept { return entries_; }
  [[nodiscard]] const Unavailable& unavailable() const noexcept { return unavailable_; }

 private:
  /// What is pooled, and the type that all of it has; float64 if types differ.
  struct Pool {
    std::optional<Reducer> reducer;
    Dtype dtype = Dtype::float64;

    void merge(Reducer&& from, Dtype from_dtype);
    void merge(Pool&& from);
  };
  /// The elements and saved statistics that a row pools.
  struct Pooled {
    Pool elements;
    std::vector<Pool> saved;  ///< By statistic; empty if none is.
  };
  struct Row {
    std::string_view tensor;
    std::string_view worker;
    GlobalStep step;
    Mode mode = Mode::global;
    ModeStep mode_step;
    bool superseded = false;
    PlaceCell written;
    const RowPlan* plan = nullptr;
    bool pools = false;                    ///< Several entries.
    bool lost = false;                     ///< Some elements could not be read.
    std::uint64_t row = 0;                 ///< With --by row.
    std::size_t trials = 1;                ///< That have some of the entries.
    std::optional<double> wall_time = {};  ///< Of one entry.
  };
  /// What a record is for.
  struct Target {
    std::uint32_t row = 0;          ///< In `rows_`; with --by row in `tensors_`, which has rows of its own.
    std::size_t statistic = value;  ///< Of a saved reduction.
    std::string_view tensor = {};
    GlobalStep step = {};

    static constexpr std::size_t value = ~std::size_t{0};
  };
  using Said = std::function<void(Diagnostics&)>;

  void clear();
  void take(const TensorEntry& entry);
  [[nodiscard]] Row pooled_row(const PoolKey& key) const;
  std::uint32_t row_of(const TensorEntry& entry);
  [[nodiscard]] Row& row_of(const Target& target) {
    return options_.by.row ? tensors_[target.row].second : rows_[target.row];
  }
  [[nodiscard]] const RowPlan& plan_of(const TensorEntry& entry);
  void finish(const Target& target, const std::optional<Problem>& problem);
  void take_saved(const Target& target);
  void take_computed(const Target& target);
  void take_rows(const Target& target);
  void pool(std::uint32_t row, Reducer&& elements, Dtype dtype);
  /// `dtype`: of the elements; `one`: there is only one.
  void take_values(std::uint32_t row, std::span<const ReducedValue> values, std::string_view tensor, Dtype dtype,
                   bool one = false);
  void fail(const Target& target);
  void fail(std::size_t row, std::size_t statistic);
  [[nodiscard]] bool failed(std::size_t row, std::size_t statistic) const {
    const std::size_t at = row * wanted_.size() + statistic;
    return at < failed_.size() && failed_[at];
  }
  [[nodiscard]] std::span<Statistic> statistics_of(std::size_t row) {
    return std::span(statistics_).subspan(row * wanted_.size(), wanted_.size());
  }
  void finish_pool(std::uint32_t row, const Pooled& pooled);
  /// False if everything in the row is damaged.
  bool fill(std::size_t index, ResultRow& row);

  const Session& session_;
  const ReduceCommandOptions& options_;
  const std::vector<Wanted>& wanted_;
  const bool single_;  ///< Every entry has a row of its own.
  const PoolPlans* const shared_plans_;
  PoolPlans own_plans_;
  std::unique_ptr<RowText> text_view_;  // null: the view has the rows themselves
  RecordResult result_;
  RowPlans plans_;
  std::vector<How> how_;
  const RowPlan* plain_[2] = {};  // of entries without saved reductions: without and with a value

  std::vector<Row> rows_;
  std::vector<std::pair<PoolKey, Row>> tensors_;           // with --by row: what all rows of an entry have in common
  std::set<PoolKey> lost_;                                 // the same: what could not be read
  std::vector<Statistic> statistics_;                      // by row, then by what is wanted
  std::vector<bool> failed_;                               // as in statistics_, as far as any is
  std::vector<std::optional<PartialReduction>> partials_;  // by row; for shards only
  std::map<PoolKey, std::uint32_t> places_;                // of rows that pool
  std::map<std::uint32_t, Pooled> pools_;                  // by row
  std::size_t entries_ = 0;
  std::vector<WantedValue> records_;
  std::vector<Target> targets_;  // of records_
  std::deque<std::string> names_;
  Unavailable unavailable_;
  bool any_unavailable_ = false;  // whether unavailable_ has any
  std::vector<Said> said_;
  std::string text_;
  std::size_t text_rows_ = 0;
};

}  // namespace smd::tool::reduce
