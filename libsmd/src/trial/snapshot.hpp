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

/// A trial as it was at one moment. Never changes once it is shared; every query works on one.
struct Snapshot {
  std::shared_ptr<const layout::Listing> listing;
  std::shared_ptr<const layout::CollectionsInfo> collections;
  Catalog catalog;
  std::vector<layout::LoadedSteps::Failure> failures;  ///< In the order of the listing.
  ProblemList notes{limits::problems_per_trial};       ///< Entries refused in files that were read.
  SortedChunks<Step, StepChunk> steps;                 ///< Ascending.
  SortedChunks<ModeClaim> claims;                      ///< By mode and mode step; each once. Without mode `global`.
  /// By id in `Catalog::paths`: the first row with records there; payload `no_id`: none. Null: no such paths.
  std::shared_ptr<const std::vector<layout::StepRow>> row_of_path;
  /// By tensor, how many values later ones superseded; null: none. The rows have none of them, or nothing else: see
  /// `TrialOptions::superseded`.
  std::shared_ptr<const std::map<std::uint32_t, std::uint64_t>> superseded;
  bool shows_superseded = false;
  /// Where steps are known only by reading: rows that came after the first look, as they came.
  GrowingColumn<layout::StepPart> arrivals;
  std::uint64_t last_arrival = 0;         ///< The largest `StepPart::id` that was ever seen.
  std::optional<std::int64_t> all_wrote;  ///< The largest step that `all_wrote_by` workers wrote.
  std::size_t all_wrote_by = 0;
  SortedChunks<std::int64_t> waiting;  ///< Listed steps after `all_wrote`, but for those whose files list nothing.
  std::vector<std::int64_t>
      undecided;                       ///< Of these: files of enough workers are there, but out of range or unreadable.
  std::optional<std::int64_t> passed;  ///< Steps up to here count as complete while the job runs.
  std::optional<std::int64_t> last_complete;  ///< The same; when the job has ended, the largest step.
  std::uint64_t generation = 0;               ///< `Storage::generation` when it was made.
  bool ended = false;                         ///< The end marker is there.
  bool settled = false;                       ///< Nothing more came for a while after it: none will.
  /// When to look again even if nothing changes: an end is to be believed, a half-written file given up.
  std::optional<std::chrono::steady_clock::time_point> due;
  AskedBefore asked_before;

  /// Takes new rows into `steps`, `claims` and `row_of_path`. Costs by their number, not by that of all.
  void add(std::vector<layout::StepRow> rows);
  /// The same. Long sequences that come after all steps there are stay what they are.
  void add(std::vector<layout::RowSequence> rows);

  /// Calls visit(sequence) for all rows, in their order: for `RowSequence`s of one row where they are not kept as
  /// longer ones.
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
  [[nodiscard]] const Step* find(std::int64_t number) const noexcept;
  /// Null if there is none.
  [[nodiscard]] const Step* first() const noexcept;
  [[nodiscard]] const Step* first_after(std::int64_t number) const noexcept;
  /// How many steps are not beyond one.
  [[nodiscard]] std::size_t steps_up_to(std::int64_t number) const noexcept;
  [[nodiscard]] bool complete(std::int64_t number) const noexcept { return complete(number, ended); }
  /// The same for who decides when the job is over.
  [[nodiscard]] bool complete(std::int64_t number, bool over) const noexcept {
    return over || (passed && number <= *passed);
  }
  /// Valid as long as any snapshot that has the step.
  [[nodiscard]] std::span<const layout::StepRow> rows_of(const Step& step) const noexcept {
    return {step.first_row.get(), step.rows};
  }
  /// Global steps that claim a mode step, ascending; for mode `global` the step itself, if it is known.
  [[nodiscard]] std::vector<std::int64_t> global_steps(Mode mode, std::int64_t number) const;
  [[nodiscard]] StepState state(StepKey key) const { return state(key, ended); }
  [[nodiscard]] StepState state(StepKey key, bool over) const;
  /// Whether there is a step of the same mode after this one.
  [[nodiscard]] bool goes_beyond(StepKey key) const;
  [[nodiscard]] std::string_view worker(const layout::StepRow& row) const noexcept {
    return *listing->workers[row.file.worker];
  }

 private:
  /// Notes a row in `row_of_path`, of which `changed` is the copy that replaces it, once there is one.
  void note_path(const layout::StepRow& row, std::shared_ptr<std::vector<layout::StepRow>>& changed) const;
};

}  // namespace smd::detail::trial
