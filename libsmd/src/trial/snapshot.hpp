// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/sorted_chunks.hpp"
#include "layout/layout.hpp"
#include "trial/asked_before.hpp"
#include "trial/catalog.hpp"
#include "trial/step_chunk.hpp"

#include <smd/problem.hpp>
#include <smd/step.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace smd::detail::trial {

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
  /// By id in `Catalog::paths`, the first row with records in that file; its payload is `no_id` if there is none. Null
  /// if there are no such paths.
  std::shared_ptr<const std::vector<layout::StepRow>> row_of_path;
  /// The superseded values of all steps, in or out of range, as a snapshot of their own; null if there are none. Only
  /// its listing, collections, catalog, steps and counts are set.
  std::shared_ptr<const Snapshot> superseded;
  std::map<std::uint32_t, std::uint64_t> counts;  ///< Of superseded values: their number, by tensor.
  bool several_count = false;                     ///< Of several rows of one worker, all count, not only the last one.
  /// If steps are known only by reading: rows that came after the first look, in order of arrival.
  GrowingColumn<layout::StepPart> arrivals;
  std::uint64_t last_arrival = 0;         ///< The largest `StepPart::id` of any look.
  std::optional<std::int64_t> all_wrote;  ///< The largest step that `all_wrote_by` workers wrote.
  std::size_t all_wrote_by = 0;
  SortedChunks<std::int64_t> waiting;   ///< Listed steps after `all_wrote`, except those whose files list nothing.
  std::vector<std::int64_t> undecided;  ///< Those of them with files of enough workers, out of range or unreadable.
  std::optional<std::int64_t> passed;   ///< Steps up to here count as complete while the job runs.
  std::optional<std::int64_t> last_complete;  ///< As `passed`; once the job has ended, the largest step.
  std::uint64_t generation = 0;               ///< `Storage::generation` when the snapshot was made.
  bool ended = false;                         ///< The job has ended.
  bool settled = false;                       ///< Nothing came for a while after the end, so nothing more will.
  /// When to look again even if nothing changes: to settle an end, or give up a half-written file.
  std::optional<std::chrono::steady_clock::time_point> due;
  AskedBefore asked_before;

  /// Adds new rows to `steps`, `claims` and `row_of_path`. The cost depends on their number, not on that of all rows.
  void add(std::vector<layout::StepRow> rows);
  /// As above. Long sequences that come after all known steps stay sequences.
  void add(std::vector<layout::RowSequence> rows);

  /// Calls `visit(sequence)` for all rows, in order. Rows that are not stored in sequences are passed as sequences of
  /// one row.
  template <class Visit>
  void for_each_sequence(const Visit& visit) const {
    steps.for_each_chunk([&](const StepChunk& chunk) {
      if (const auto sequences = chunk.sequences(); !sequences.empty()) {
        std::for_each(sequences.begin(), sequences.end(), visit);
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
  /// Null if there is no step.
  [[nodiscard]] const Step* first() const noexcept;
  /// Null if there is no later step.
  [[nodiscard]] const Step* first_after(std::int64_t number) const noexcept;
  /// Returns the number of steps up to and including `number`.
  [[nodiscard]] std::size_t steps_up_to(std::int64_t number) const noexcept;
  [[nodiscard]] bool complete(std::int64_t number) const noexcept { return complete(number, ended); }
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
  [[nodiscard]] StepState state(StepKey key) const { return state(key, ended); }
  [[nodiscard]] StepState state(StepKey key, bool over) const;
  /// Returns whether there is a later step of the same mode.
  [[nodiscard]] bool goes_beyond(StepKey key) const;
  [[nodiscard]] std::string_view worker(const layout::StepRow& row) const noexcept {
    return *listing->workers[row.file.worker];
  }

 private:
  /// Adds a row to `changed`, a copy of `row_of_path` that replaces it and that the first call makes.
  void note_path(const layout::StepRow& row, std::shared_ptr<std::vector<layout::StepRow>>& changed) const;
};

}  // namespace smd::detail::trial
