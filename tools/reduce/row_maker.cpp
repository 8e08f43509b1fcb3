// SPDX-License-Identifier: Apache-2.0
// Makes rows of what is selected.
#include "cli/progress.hpp"
#include "partial.hpp"
#include "result_view.hpp"
#include "row_plans.hpp"
#include "rows/elements.hpp"
#include "select/slice.hpp"
#include "unavailable.hpp"

#include <smd/reduction.hpp>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <utility>

namespace smd::tool::reduce {

namespace {

constexpr std::size_t many_steps = 64;  // enough to keep threads busy, each with whole steps

/// What one record is reduced to, or each of its rows, or the one number of a saved reduction. For one record after
/// another.
class RecordResult {
 public:
  /// `mergeable`: the result of a record is merged with others, so that reducers are needed.
  RecordResult(const ReduceCommandOptions& options, bool mergeable)
      : reducer(options.reduce, mergeable), options_(options), mergeable_(mergeable) {}

  /// `plan`: null if the record is a saved reduction.
  void read(Extent& value, const RowPlan* plan) {
    dtype = value.dtype();
    wall_time = value.wall_time();
    misfit.clear();
    saved = Statistic();
    if (plan == nullptr) {
      if (dtype != Dtype::string && value.size() == 1) {
        saved = Statistic(Elements(TensorView(dtype, value.shape(), value.view(0, 1))).cell(0));
      }
      return;
    }
    if (dtype == Dtype::string) {
      return;
    }
    misfit = options_.slice ? narrow(value, *options_.slice) : std::string();
    size = value.size();
    if (misfit.empty() && options_.by.row) {
      reduce_rows(value, plan->computed);
    } else if (misfit.empty()) {
      (void)reducer.reduce(value, plan->computed);
    }
  }

  /// The results of a row. If mergeable, of its reducer alone.
  [[nodiscard]] std::span<const ReducedValue> row(std::size_t row) {
    if (mergeable_) {
      row_values_.resize(computed_);
      row_reducers[row].results(row_values_);
      return row_values_;
    }
    return std::span(row_values_).subspan(row * computed_, computed_);
  }

  Dtype dtype = Dtype::float32;
  double wall_time = 0;
  std::uint64_t size = 0;  ///< Of what was reduced.
  std::string misfit;      ///< Why the slice does not fit the record.
  Statistic saved;
  ValueReducer reducer;               ///< Its results are in the order of `RowPlan::computed`.
  std::optional<std::size_t> rows;    ///< With --by row: how many, if the record has two axes or more.
  std::vector<Reducer> row_reducers;  ///< Of the rows, if mergeable.

 private:
  void reduce_rows(Extent& value, const std::vector<Reduction>& computed) {
    rows.reset();
    if (value.shape().size() < 2) {
      return;
    }
    rows = static_cast<std::size_t>(value.shape().front());
    computed_ = computed.size();
    row_values_.clear();
    row_reducers.clear();
    Reducer reducer_of_row(computed, options_.reduce);
    reducer_of_row.add(dtype, {});  // notes the type even if there are no elements
    const auto end_row = [&] {
      if (mergeable_) {
        row_reducers.push_back(reducer_of_row);
      } else {
        row_values_.resize(row_values_.size() + computed_);
        reducer_of_row.results(std::span(row_values_).last(computed_));
      }
      reducer_of_row.clear();
      reducer_of_row.add(dtype, {});
    };
    const std::uint64_t row_bytes = *rows == 0 ? 0 : value.size() / *rows * item_size(dtype);
    for (std::size_t i = 0; i < *rows && row_bytes == 0; ++i) {
      end_row();
    }
    std::uint64_t left = row_bytes;
    value.verify_while_reading(0, value.size());
    (void)value.for_each_block([&](std::span<const std::byte> bytes) {
      while (!bytes.empty()) {
        const auto some = static_cast<std::size_t>(std::min<std::uint64_t>(left, bytes.size()));
        reducer_of_row.add(dtype, bytes.first(some));
        bytes = bytes.subspan(some);
        left -= some;
        if (left == 0) {
          end_row();
          left = row_bytes;
        }
      }
    });
  }

  const ReduceCommandOptions& options_;
  bool mergeable_;
  std::size_t computed_ = 0;              // statistics of a row
  std::vector<ReducedValue> row_values_;  // of all rows, one after another
};

/// Makes the rows of one piece after another, and keeps what is made until it is shown. Used by one thread at a time.
class RowMaker {
 public:
  /// `shared`: of rows that pool entries of several pieces. Null: each piece has all entries of its rows.
  RowMaker(const Session& session, const std::vector<Wanted>& wanted, const ResultView& view, const RowPlans* shared)
      : session_(session),
        options_(session.options),
        wanted_(wanted),
        single_(!options_.pools() && !options_.by.row),
        shared_(shared),
        plans_(options_, wanted),
        text_view_(single_ ? view.text_view() : nullptr),
        result_(options_, options_.shard.has_value() || options_.pools()) {}

  /// Reads, reduces and, if the view takes text, writes the text of all rows of a piece.
  void make(const Piece& piece, ValueReader& reader) {
    clear();
    if (!single_ && shared_ == nullptr) {
      plans_.clear_pools();
      session_.for_each_entry(piece, [this](const TensorEntry& entry) { plans_.note(entry); });
      plans_.finish();
    }
    session_.for_each_entry(piece, [this](const TensorEntry& entry) { take(entry); });
    statistics_.resize(rows_.size() * wanted_.size());
    if (options_.shard) {
      partials_.resize(rows_.size());
    }
    reader.read_each(
        records_,
        [this](std::size_t i, Extent& value) {
          const Target& target = targets_[i];
          result_.read(value, target.statistic == Target::value ? row_of(target).plan : nullptr);
        },
        [this](std::size_t i, const std::optional<Problem>& problem) { finish(targets_[i], problem); });
    text_rows_ = 0;
    if (text_view_) {
      ResultRow row;
      for (std::size_t i = 0; i < rows_.size(); ++i) {
        if (fill(i, row)) {
          text_view_->row(row);
          ++text_rows_;
        }
      }
      text_view_->take(text_);
    }
  }

  /// Adds the rows of another piece to those of this one, and pools what belongs to one row.
  void absorb(RowMaker& piece) {
    entries_ += piece.entries_;
    unavailable_.merge(piece.unavailable_);
    lost_.merge(piece.lost_);
    for (const auto& [key, from] : piece.places_) {
      const std::uint32_t to = place_of_row(key, piece.rows_[from]);
      rows_[to].lost = rows_[to].lost || piece.rows_[from].lost;
      rows_[to].damaged = rows_[to].damaged || piece.rows_[from].damaged;
      rows_[to].strings = rows_[to].strings || piece.rows_[from].strings;
      for (std::size_t i = 0; i < wanted_.size(); ++i) {
        if (Statistic& statistic = piece.statistics_of(from)[i]; !statistic.missing()) {
          statistics_of(to)[i] = std::move(statistic);
        }
        if (piece.failed_.contains({from, i})) {
          failed_.emplace(to, i);
        }
      }
      if (options_.shard && piece.partials_[from]) {
        partials_[to] = piece.partials_[from];
      }
      if (const auto pooled = piece.pools_.find(from); pooled != piece.pools_.end()) {
        Pooled& into = pools_[to];
        into.elements.merge(std::move(pooled->second.elements));
        into.saved.resize(std::max(into.saved.size(), pooled->second.saved.size()));
        for (std::size_t i = 0; i < pooled->second.saved.size(); ++i) {
          into.saved[i].merge(std::move(pooled->second.saved[i]));
        }
      }
    }
  }

  /// Reports problems.
  void say(Diagnostics& messages) const { say_all(said_, messages); }

  /// Passes the rows to the view. Returns whether any of them is not wholly damaged.
  bool show(ResultView& view) {
    if (text_view_) {
      view.append(text_, text_rows_);
      return any_;
    }
    for (const auto& [row, pooled] : pools_) {
      finish_pool(row, pooled);
    }
    ResultRow row;
    const auto show_row = [&](std::size_t i) {
      if (fill(i, row)) {
        view.row(row);
      }
    };
    for (std::size_t i = 0; i < rows_.size() && single_; ++i) {
      show_row(i);
    }
    for (const auto& [key, i] : places_) {
      show_row(i);
    }
    return any_;
  }

  [[nodiscard]] std::size_t entries() const noexcept { return entries_; }
  [[nodiscard]] const Unavailable& unavailable() const noexcept { return unavailable_; }

 private:
  /// What is pooled, and the type that all of it has; float64 if types differ.
  struct Pool {
    std::optional<Reducer> reducer;
    Dtype dtype = Dtype::float64;

    void merge(Reducer&& from, Dtype from_dtype) {
      reducer->merge(std::move(from));
      dtype = dtype == from_dtype ? dtype : Dtype::float64;
    }
    void merge(Pool&& from) {
      if (reducer && from.reducer) {
        merge(*std::move(from.reducer), from.dtype);
      } else if (from.reducer) {
        *this = std::move(from);
      }
    }
  };
  /// The elements and saved statistics that a row pools.
  struct Pooled {
    Pool elements;
    std::vector<Pool> saved;  ///< By statistic; empty if none is.
  };
  struct Row : RowFacts {
    const RowPlan* plan = nullptr;
    bool pools = false;    ///< Several entries.
    bool lost = false;     ///< Some elements could not be read,
    bool damaged = false;  ///< and not only because they are strings.
    bool strings = false;  ///< It pools strings, which have no elements.
  };
  /// What a record is for.
  struct Target {
    std::uint32_t row = 0;          ///< In `rows_`; with --by row in `tensors_`, which has rows of its own.
    std::size_t statistic = value;  ///< Of a saved reduction.
    std::string_view tensor = {};
    GlobalStep step = {};

    static constexpr std::size_t value = ~std::size_t{0};
  };

  void clear() {
    rows_.clear();
    tensors_.clear();
    lost_.clear();
    statistics_.clear();
    failed_.clear();
    partials_.clear();
    places_.clear();
    pools_.clear();
    entries_ = 0;
    any_ = false;
    records_.clear();
    targets_.clear();
    names_.clear();
    unavailable_ = {};
    said_.clear();
  }

  [[nodiscard]] Row& row_of(const Target& target) { return options_.by.row ? tensors_[target.row] : rows_[target.row]; }
  [[nodiscard]] std::span<Statistic> statistics_of(std::size_t row) {
    return std::span(statistics_).subspan(row * wanted_.size(), wanted_.size());
  }

  /// The place of the row with this key; if there is none yet, `row` becomes it.
  std::uint32_t place_of_row(const PoolKey& key, const Row& row) {
    const auto [place, fresh] = places_.emplace(key, static_cast<std::uint32_t>(rows_.size()));
    if (fresh) {
      rows_.push_back(row);
      statistics_.resize(rows_.size() * wanted_.size());
      partials_.resize(options_.shard ? rows_.size() : 0);
    }
    return place->second;
  }

  std::uint32_t row_of(const TensorEntry& entry) {
    const RowFacts facts = RowFacts::of(entry, options_.by);
    if (single_) {
      rows_.push_back({facts, &plans_.of(entry)});
      return static_cast<std::uint32_t>(rows_.size() - 1);
    }
    if (const auto known = places_.find(facts.key()); known != places_.end()) {
      return known->second;
    }
    const RowPlans::Pool& pool = (shared_ != nullptr ? *shared_ : plans_).pool(facts.key());
    const Row row = {pool.facts, pool.plan, pool.members > 1};
    if (options_.by.row) {
      tensors_.push_back(row);
      return static_cast<std::uint32_t>(tensors_.size() - 1);
    }
    return place_of_row(facts.key(), row);
  }

  void take(const TensorEntry& entry) {
    ++entries_;
    const std::uint32_t row = row_of(entry);
    const RowPlan& plan = *row_of(Target{row}).plan;
    if (plan.lacks) {
      unavailable_.lacks(entry, plan, wanted_);
    }
    if (!plan.computed.empty() && entry.value) {
      records_.push_back({*entry.value, entry.tensor});
      targets_.push_back({row, Target::value, entry.tensor, entry.step});
    }
    for (std::size_t i = 0; i < wanted_.size() && !entry.reductions.empty(); ++i) {
      if (is_saved(plan.how[i])) {
        const SavedReduction& saved = *find_saved(entry, wanted_[i]);
        records_.push_back({saved.place, names_.emplace_back(reduction_tensor_name(saved.name, entry.tensor))});
        targets_.push_back({row, i, entry.tensor, entry.step});
      }
    }
  }

  void finish(const Target& target, const std::optional<Problem>& problem) {
    if (problem) {
      fail(target, about_problem(*problem, target.tensor, target.step, session_));
      return;
    }
    if (Row& row = row_of(target); !row.pools) {
      row.wall_time = result_.wall_time;
    }
    if (target.statistic != Target::value) {
      take_saved(target);
    } else {
      take_computed(target);
    }
  }

  void take_saved(const Target& target) {
    const Wanted& wanted = wanted_[target.statistic];
    if (result_.saved.missing()) {
      fail(target, about_damage(target.tensor, target.step, ": saved " + wanted.name + " is not one number"));
      return;
    }
    if (!rows_[target.row].pools) {
      Statistic& statistic = statistics_of(target.row)[target.statistic];
      statistic = result_.saved;
      if (options_.pooled_later() && is_floating(result_.dtype)) {
        statistic = Statistic(statistic.number());
      }
      return;
    }
    std::vector<Pool>& saved = pools_[target.row].saved;
    saved.resize(wanted_.size());
    const Reduction pooling = *pooling_of(wanted);
    Pool one = {.reducer = Reducer(std::span(&pooling, 1)), .dtype = result_.dtype};
    result_.saved.add_to(*one.reducer);
    saved[target.statistic].merge(std::move(one));
  }

  void take_computed(const Target& target) {
    if (!result_.misfit.empty()) {
      fail(target, about_slice(target.tensor, result_.misfit));
    } else if (result_.dtype == Dtype::string) {
      unavailable_.strings.emplace(target.tensor);
      row_of(target).strings = true;
      if (!row_of(target).pools) {
        fail(target);
      }
    } else if (options_.by.row) {
      take_rows(target);
    } else if (rows_[target.row].pools) {
      pool(target.row, std::move(result_.reducer.reducer()));
    } else {
      if (options_.shard && !is_complex(result_.dtype)) {
        partials_[target.row] = result_.reducer.reducer().partial();
      }
      take_values(target.row, result_.reducer.results(), target.tensor, result_.dtype, result_.size == 1);
    }
  }

  void take_rows(const Target& target) {
    if (!result_.rows) {
      unavailable_.without_rows.emplace(target.tensor);
      return;
    }
    Row row = tensors_[target.row];
    for (std::size_t i = 0; i < *result_.rows; ++i) {
      row.row = i;
      const std::uint32_t place = place_of_row(row.key(), row);
      if (row.pools) {
        pool(place, std::move(result_.row_reducers[i]));
      } else {
        take_values(place, result_.row(i), target.tensor, result_.dtype, result_.size == *result_.rows);
      }
    }
  }

  void pool(std::uint32_t row, Reducer&& elements) {
    Pool& into = pools_[row].elements;
    if (!into.reducer) {
      into = {.reducer = Reducer(rows_[row].plan->computed, options_.reduce), .dtype = result_.dtype};
    }
    into.merge(std::move(elements), result_.dtype);
  }

  /// `dtype`: of the elements; `one`: there is only one.
  void take_values(std::uint32_t row, std::span<const ReducedValue> values, std::string_view tensor, Dtype dtype,
                   bool one) {
    const RowPlan& plan = *rows_[row].plan;
    const std::span<Statistic> statistics = statistics_of(row);
    for (std::size_t i = 0; i < plan.positions.size(); ++i) {
      const std::size_t position = plan.positions[i];
      if (values[i].kind == ReducedValue::Kind::undefined) {
        unavailable_.undefined_for(wanted_[position].name, tensor);
      }
      statistics[position] = statistic_of(values[i], plan.computed[i], dtype, one);
    }
  }
  [[nodiscard]] Statistic statistic_of(const ReducedValue& value, const Reduction& reduction, Dtype dtype,
                                       bool one) const {
    return options_.pooled_later() ? Statistic::of(value) : Statistic::of(value, reduction, dtype, one);
  }

  /// The statistics that need a record are lost; `said`, if any, is why.
  void fail(const Target& target, Said said = {}) {
    if (said) {
      said_.push_back(std::move(said));
      row_of(target).damaged = true;
    }
    if (options_.by.row) {
      lost_.insert(tensors_[target.row].key());
    } else if (target.statistic != Target::value) {
      failed_.emplace(target.row, target.statistic);
    } else {
      rows_[target.row].lost = true;
      for (const std::size_t position : rows_[target.row].plan->positions) {
        failed_.emplace(target.row, position);
      }
    }
  }

  void finish_pool(std::uint32_t row, const Pooled& pooled) {
    if (pooled.elements.reducer) {
      std::vector<ReducedValue> values(rows_[row].plan->computed.size());
      pooled.elements.reducer->results(values);
      const std::string_view tensor = rows_[row].tensor;
      take_values(row, values, tensor.empty() ? "(pooled)" : tensor, pooled.elements.dtype, false);
      if (options_.shard && !rows_[row].lost) {
        try {
          partials_[row] = pooled.elements.reducer->partial();
        } catch (const InvalidArgument&) {
          partials_[row].reset();  // complex numbers
        }
      }
    }
    for (std::size_t i = 0; i < pooled.saved.size(); ++i) {
      if (const Pool& saved = pooled.saved[i]; saved.reducer) {
        const Reduction pooling = *pooling_of(wanted_[i]);
        statistics_of(row)[i] = statistic_of(saved.reducer->result(pooling), pooling, saved.dtype, false);
      }
    }
  }

  /// False if the row is not shown: everything in it is damaged, and it is of one value or of strings. A row that pools
  /// several, here or with other shards, is shown without statistics.
  bool fill(std::size_t index, ResultRow& row) {
    const Row& from = rows_[index];
    const std::span<Statistic> statistics = statistics_of(index);
    const bool lost = !lost_.empty() && lost_.contains({from.step.value, from.tensor, from.worker, 0});
    bool damaged = false;
    bool saved = false;
    bool computed = false;
    for (std::size_t i = 0; i < statistics.size(); ++i) {
      if (lost || failed_.contains({index, i})) {
        statistics[i] = Statistic();  // a part of the whole would be taken for the whole
        damaged = true;
      }
      const bool there = !statistics[i].missing();
      saved = saved || (there && is_saved(from.plan->how[i]));
      computed = computed || (there && from.plan->how[i] == How::computed);
    }
    const bool nothing_left = (damaged || from.strings) && !saved && !computed;
    any_ = any_ || !nothing_left;
    if (nothing_left && !((options_.pools() || options_.shard) &&
                          (lost || from.damaged || pools_.contains(static_cast<std::uint32_t>(index))))) {
      return false;
    }
    static_cast<RowFacts&>(row) = static_cast<const RowFacts&>(from);
    row.selected = session_.shows(from.tensor, from.step, from.worker);
    row.elapsed =
        from.wall_time && session_.started ? std::optional(*from.wall_time - *session_.started) : std::nullopt;
    row.source = saved && computed ? "mixed" : saved ? "saved" : computed ? "computed" : "";
    row.statistics = statistics;
    if (options_.shard) {
      tell_part(row, index, computed);
    }
    return true;
  }

  /// Adds what merging must know to a shard's row.
  void tell_part(ResultRow& row, std::size_t index, bool computed) const {
    const RowPlan& plan = *rows_[index].plan;
    // Those that statistics were computed from; nullopt for complex numbers, or if some could not be read.
    const std::optional<PartialReduction>& elements = partials_[index];
    Partial partial = {
        .shard = *options_.shard, .steps = session_.sharded, .how = {}, .options = options_.reduce, .data = elements};
    for (std::size_t i = 0; i < row.statistics.size(); ++i) {
      const bool missing = row.statistics[i].missing();
      if (failed_.contains({index, i})) {
        partial.how += 'x';
      } else if (plan.how[i] == How::computed) {
        // A statistic of no elements may be missing here, but not of these and those of other shards.
        partial.how += missing && !elements ? '-' : 'c';
      } else {
        partial.how += missing ? '-' : plan.how[i] == How::both && elements ? 'b' : 's';
      }
    }
    if (!partial.data && !computed) {
      partial.data.emplace();  // nothing but saved statistics
    }
    row.count = partial.data ? partial.data->count : 0;
    row.partial = to_text(partial);
  }

  const Session& session_;
  const ReduceCommandOptions& options_;
  const std::vector<Wanted>& wanted_;
  const bool single_;  ///< Every entry has a row of its own.
  const RowPlans* const shared_;
  RowPlans plans_;
  std::unique_ptr<ResultView> text_view_;  // null: the view has the rows themselves
  RecordResult result_;

  std::vector<Row> rows_;
  std::vector<Row> tensors_;                               // with --by row: what all rows of an entry have in common
  std::set<PoolKey> lost_;                                 // the same: what could not be read
  std::vector<Statistic> statistics_;                      // by row, then by what is wanted
  std::set<std::pair<std::size_t, std::size_t>> failed_;   // row and statistic of those that could not be read
  std::vector<std::optional<PartialReduction>> partials_;  // by row; for shards only
  std::map<PoolKey, std::uint32_t> places_;                // of rows that pool
  std::map<std::uint32_t, Pooled> pools_;                  // by row
  std::size_t entries_ = 0;
  bool any_ = false;  // some row is not wholly damaged
  std::vector<WantedValue> records_;
  std::vector<Target> targets_;  // of records_
  std::deque<std::string> names_;
  Unavailable unavailable_;
  std::vector<Said> said_;
  std::string text_;
  std::size_t text_rows_ = 0;
};

}  // namespace

ReduceOutcome reduce_trials(std::span<const Session* const> sessions, const std::vector<Wanted>& wanted,
                            ResultView& view, Diagnostics& messages) {
  const ReduceCommandOptions& options = sessions.front()->options;
  // Rows that pool entries of several pieces are shown after the last one.
  const bool across = options.pools() && (options.across || !options.by.step ||
                                          sessions.front()->selection.steps.steps.size() < many_steps);
  RowPlans plans(options, wanted);
  for (const Session* const session : sessions.first(across ? sessions.size() : 0)) {
    plans.next_trial();
    session->for_each_entry([&](const TensorEntry& entry) { plans.note(entry); });
  }
  plans.finish();
  const auto new_maker = [&](const Session& session) {
    return std::make_unique<RowMaker>(session, wanted, view, across ? &plans : nullptr);
  };
  const std::unique_ptr<RowMaker> whole = across ? new_maker(*sessions.front()) : nullptr;
  Progress progress("reducing", [&] {
    std::uint64_t entries = 0;
    for (const Session* const session : sessions) {
      session->for_each_entry([&](const TensorEntry&) { ++entries; });
    }
    return entries;
  });
  Unavailable unavailable;
  ReduceOutcome outcome = ReduceOutcome::nothing;
  const auto show = [&](RowMaker& maker) {
    const bool any = maker.show(view);
    unavailable.merge(maker.unavailable());
    outcome = std::max(outcome, any                    ? ReduceOutcome::rows
                                : maker.entries() != 0 ? ReduceOutcome::no_row
                                                       : ReduceOutcome::nothing);
  };
  const bool whole_steps = options.pools() && !across;
  const auto room = options.by.row ? std::optional<std::size_t>(1) : std::nullopt;  // a tensor may have very many rows
  for (const Session* const session : sessions) {
    const AboutTrial about(session->name);
    read_pieces(
        *session, pieces_of(*session, wanted.size(), room, whole_steps), [&] { return new_maker(*session); },
        [&](RowMaker& maker) {
          progress.advance(maker.entries());
          maker.say(messages);
          if (whole) {
            whole->absorb(maker);
          } else {
            show(maker);
          }
        });
  }
  if (whole) {
    show(*whole);
  }
  unavailable.say(options.pools(), options.strict, messages);
  return outcome;
}

}  // namespace smd::tool::reduce
