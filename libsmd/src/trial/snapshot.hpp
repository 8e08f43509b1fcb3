// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/sorted_chunks.hpp"
#include "layout/layout.hpp"
#include "text/limits.hpp"
#include "text/mapped.hpp"
#include "text/pattern.hpp"
#include "text/whole_steps.hpp"
#include "trial/catalog.hpp"

#include <smd/problem.hpp>
#include <smd/step.hpp>
#include <smd/tensor.hpp>
#include <smd/trial_options.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace smd::detail::trial {

/// One global step, and what workers wrote at it.
struct Step {
  std::int64_t number = 0;
  Mode mode = Mode::global;  ///< That of the first row; other rows may have another.
  std::int64_t mode_step = 0;
  std::shared_ptr<const layout::StepRow> first_row;  ///< Of `rows` contiguous rows, which it keeps alive.
  std::uint32_t rows = 0;  ///< By worker's name, then path; the last of several rows of one worker counts.
};

/// Makes a step of contiguous rows.
[[nodiscard]] inline Step step_of(std::shared_ptr<const layout::StepRow> first, std::uint32_t count) noexcept {
  const layout::StepRow& row = *first;
  return {row.file.step, row.mode, row.mode_step, std::move(first), count};
}

/// Some consecutive steps. Those of a log are stored as sequences of rows, one row for each step, and are made on first
/// access: most queries about a million steps need none of them. Immutable. Thread-safe.
class StepChunk {
 public:
  /// Precondition: `steps` is not empty.
  explicit StepChunk(std::vector<Step> steps);
  /// Precondition: `rows` is ascending and not empty, and each row is the only one of its step.
  explicit StepChunk(std::vector<layout::RowSequence> rows);

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] const Step& operator[](std::size_t i) const { return steps()[i]; }
  [[nodiscard]] const Step& front() const { return steps().front(); }
  [[nodiscard]] const Step& back() const { return steps().back(); }
  [[nodiscard]] std::vector<Step>::const_iterator begin() const { return steps().begin(); }
  [[nodiscard]] std::vector<Step>::const_iterator end() const { return steps().end(); }

  /// Returns the sequences from which the chunk was made; empty if it was made from steps.
  [[nodiscard]] std::span<const layout::RowSequence> sequences() const noexcept { return rows_; }
  /// Returns the steps, which are valid as long as this; makes them on the first call.
  [[nodiscard]] const std::vector<Step>& steps() const {
    if (!made_.load(std::memory_order_acquire)) {
      make();
    }
    return steps_;
  }
  /// Calls `visit(step)` until it returns false, without storing steps: each is valid only during the call. Returns
  /// whether all were visited.
  template <class Visit>
  bool for_each(const Visit& visit) const {
    if (made_.load(std::memory_order_acquire)) {
      return std::ranges::all_of(steps_, visit);
    }
    return std::ranges::all_of(rows_, [&](const layout::RowSequence& sequence) {
      for (std::uint32_t i = 0; i < sequence.count; ++i) {
        const layout::StepRow row = sequence.nth(i);
        if (!visit(step_of({std::shared_ptr<void>(), &row}, 1))) {
          return false;
        }
      }
      return true;
    });
  }

 private:
  friend const Step& last_of(const StepChunk& chunk) noexcept { return chunk.last_; }

  void make() const;

  std::vector<layout::RowSequence> rows_;
  std::size_t size_;
  Step last_;
  mutable std::mutex making_;
  mutable std::atomic<bool> made_;
  mutable std::vector<Step> steps_;  // written once, before `made_`
};

/// State that queries of one snapshot share. A copy starts empty, because it belongs to another snapshot. Thread-safe.
class AskedBefore {
 public:
  AskedBefore() = default;
  AskedBefore(const AskedBefore& /*other*/) noexcept {}
  AskedBefore& operator=(const AskedBefore& /*other*/) = delete;
  ~AskedBefore() = default;

  /// Returns the tensors of which something was saved at some step; calls `make` the first time only. The reference
  /// stays valid.
  template <class Make>
  [[nodiscard]] const std::vector<bool>& saved_ever(const Make& make) const {
    const std::lock_guard lock(mutex_);
    if (!saved_ever_) {
      saved_ever_ = make();
    }
    return *saved_ever_;
  }

  /// Returns the budget of a collection's patterns for a number of names: what the patterns of other collections left.
  /// A collection that once finished within its budget gets the full budget again, and its steps are not counted twice.
  [[nodiscard]] MatchBudget budget_of(const std::string& collection, std::size_t names) const {
    const std::lock_guard lock(mutex_);
    const MatchBudget all(limits::pattern_trial_steps + names * limits::pattern_trial_steps_of_name);
    return counted_.contains(collection) ? all : left_.value_or(all);
  }
  void took(const std::string& collection, const MatchBudget& left) const {
    const std::lock_guard lock(mutex_);
    if (counted_.contains(collection)) {
      return;
    }
    left_ = left_ && left_->left() < left.left() ? left_ : left;
    if (!left_->spent()) {
      counted_.insert(collection);
    }
  }

 private:
  mutable std::mutex mutex_;
  mutable std::optional<std::vector<bool>> saved_ever_;
  mutable std::optional<MatchBudget> left_;
  mutable std::unordered_set<std::string> counted_;
};

/// A mode step and a global step that claims it.
struct ModeClaim {
  Mode mode = Mode::global;
  std::int64_t mode_step = 0;
  std::int64_t step = 0;

  auto operator<=>(const ModeClaim&) const = default;
};

/// The state of a trial at one moment. Immutable once shared; every query uses one.
struct Snapshot {
  std::shared_ptr<const layout::Listing> listing;
  std::shared_ptr<const layout::CollectionsInfo> collections;
  Catalog catalog;
  std::vector<layout::LoadedSteps::Failure> failures;  ///< In the order of the listing.
  ProblemList notes{limits::problems_per_trial};       ///< Refused entries of files that were read.
  SortedChunks<Step, StepChunk> steps;                 ///< Ascending.
  SortedChunks<std::int64_t> left_out;  ///< Steps out of range, if only reading shows that they are there.
  SortedChunks<ModeClaim> claims;       ///< By mode and mode step; each once. Without mode `global`.
  /// By id in `Catalog::paths`, the first row with records in that file, even if they were superseded; its payload is
  /// `no_id` if no file has it. Null if there are no such paths.
  std::shared_ptr<const std::vector<layout::StepRow>> row_of_path;
  /// The superseded values of all steps, in or out of range, as a snapshot of their own; null if there are none. Only
  /// its listing, collections, catalog, steps and counts are set.
  std::shared_ptr<const Snapshot> superseded;
  std::map<std::uint32_t, std::uint64_t> counts;  ///< Of superseded values: their number, by tensor.
  bool several_count = false;                     ///< Of several rows of one worker, all count, not only the last one.
  /// `catalog` may name tensors that no step has: values were superseded or left out, or all was read again.
  bool more_names = false;
  /// If steps are known only by reading: rows that came after the first look, in order of arrival. Otherwise the rows
  /// that came to complete steps, each with its payload as its id; they are numbered from 1.
  GrowingColumn<layout::StepPart> arrivals;
  std::uint64_t last_arrival = 0;         ///< The largest `StepPart::id` of any look.
  WholeSteps whole;                       ///< Up to which step all has come. Empty if the layout marks steps.
  std::optional<std::int64_t> all_wrote;  ///< The largest step that `all_wrote_by` workers wrote.
  std::size_t all_wrote_by = 0;
  SortedChunks<std::int64_t> waiting;   ///< Listed steps after `all_wrote`, except those whose files list nothing.
  std::vector<std::int64_t> undecided;  ///< Those of `waiting` with files of enough workers, some of them unread.
  std::optional<std::int64_t> passed;   ///< Steps up to here count as complete while the job runs.
  std::optional<std::int64_t> last_complete;  ///< As `passed`; once the job has ended, the largest step.
  std::uint64_t generation = 0;               ///< `Storage::generation` when the snapshot was made.
  bool ended = false;                         ///< The job has ended, or the trial is read as if it had.
  bool may_grow = false;                      ///< It is only read as if it had.
  bool settled = false;                       ///< Nothing came for a while after the end, so nothing more will.
  bool end_doubted = false;                   ///< There is an end marker, but not of each worker, it seems.
  /// When to look again even if nothing changes: to settle an end, or give up a half-written file.
  std::optional<std::chrono::steady_clock::time_point> due;
  AskedBefore asked_before;

  /// Adds new rows to `steps`, `claims` and `row_of_path`. The cost depends on their number, not on that of all rows.
  void add(std::vector<layout::StepRow> rows);
  /// As above. Long sequences that come after all known steps stay sequences.
  void add(std::vector<layout::RowSequence> rows);
  /// Moves superseded values of new rows, and of its own, to `superseded`. `kept`: which values stay in `rows`. The
  /// cost depends on the steps from the first that may have some. Precondition: no rows have a mode, so there are no
  /// `claims`.
  void supersede(std::vector<layout::StepRow>& rows, std::span<const layout::Supersession> later, Superseded kept);

  /// Calls `visit(sequence)` for all rows, in order. Rows that are not stored in sequences are passed as sequences of
  /// one row.
  template <class Visit>
  void for_each_sequence(const Visit& visit) const {
    steps.for_each_chunk([&](const StepChunk& chunk) {
      if (const auto sequences = chunk.sequences(); !sequences.empty()) {
        std::ranges::for_each(sequences, visit);
        return;
      }
      for (const Step& step : chunk.steps()) {
        for (const layout::StepRow& row : rows_of(step)) {
          visit(layout::RowSequence{row});
        }
      }
    });
  }
  /// Null if there is no such step.
  [[nodiscard]] const Step* find(std::int64_t number) const noexcept;
  /// Returns the place in `steps` of the first step after `number`; nullopt: of the first step.
  [[nodiscard]] auto after(std::optional<GlobalStep> number) const {
    return steps.partition_point([number](const Step& step) { return number && step.number <= number->value; });
  }
  [[nodiscard]] bool complete(std::int64_t number) const noexcept { return complete(number, ended); }
  [[nodiscard]] SnapshotStep public_step(const Step& step) const noexcept {
    return {GlobalStep(step.number), step.mode, ModeStep(step.mode_step), complete(step.number)};
  }
  /// As above, for callers that decide themselves whether the job is over.
  [[nodiscard]] bool complete(std::int64_t number, bool over) const noexcept {
    return over || (passed && number <= *passed);
  }
  /// Returns the rows of a step, valid as long as any snapshot that has the step.
  [[nodiscard]] std::span<const layout::StepRow> rows_of(const Step& step) const noexcept {
    return {step.first_row.get(), step.rows};
  }
  /// Returns the global steps that claim a mode step, ascending; for mode `global` the step itself, if it is known.
  [[nodiscard]] std::vector<std::int64_t> global_steps(Mode mode, std::int64_t number) const;
  /// Returns whether a row is one of these arrivals.
  [[nodiscard]] bool arrived(const layout::StepRow& row, const Arrivals& when) const noexcept;
  [[nodiscard]] bool over() const noexcept { return ended && !may_grow; }
  [[nodiscard]] StepState state(StepKey key) const { return state(key, over()); }
  [[nodiscard]] StepState state(StepKey key, bool over) const;
  /// Returns the last step of a mode, by its number in the mode; nullopt if the mode has no step.
  [[nodiscard]] std::optional<std::int64_t> last_step(Mode mode) const;
  [[nodiscard]] std::string_view worker(const layout::StepRow& row) const noexcept {
    return *listing->workers[row.file.worker];
  }

 private:
  /// Adds a row to `changed`, a copy of `row_of_path` that replaces it and that the first call makes.
  void note_path(const layout::StepRow& row, std::shared_ptr<std::vector<layout::StepRow>>& changed) const;
};

/// Reads step files that are out of range, to find which workers wrote them.
using Probe = std::function<layout::LoadedSteps(std::span<const layout::StepPart>)>;

/// Finds up to which step all workers have written: sets `all_wrote`, `waiting`, `undecided`, `passed` and
/// `last_complete`. `touched`: steps of which files were listed or read since the previous snapshot; nullopt if this
/// snapshot does not continue one. `window`: how many steps may lack a worker before the oldest count as complete.
void find_last_complete(Snapshot& snapshot, std::optional<std::vector<std::int64_t>> touched, std::size_t window,
                        const Probe& probe);

/// Returns how many of the oldest of `waiting` incomplete steps count as complete because there are too many: window/2
/// at a time, until at most `window` are left (docs/format.md).
[[nodiscard]] std::size_t given_up(std::size_t waiting, std::size_t window) noexcept;

/// Returns a warning if fewer workers have a collections file than the job stated or, once it has ended, index files,
/// or if that number is not positive. `place`: the layout's folder of collections files.
[[nodiscard]] std::optional<Problem> missing_collections_files(const Snapshot& snapshot, std::string_view place);

}  // namespace smd::detail::trial
