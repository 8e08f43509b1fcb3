// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/collection.hpp>
#include <smd/export.hpp>
#include <smd/problem.hpp>
#include <smd/step.hpp>
#include <smd/trial.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// A trial as it was at one moment, for programs that ask many questions about the same state: ids and spans instead
/// of texts and copies. `Trial` answers the same questions by name.
namespace smd {

namespace detail::layout {
struct StepRow;
}

/// One record that a worker saved of a tensor at a step.
struct SavedItem {
  /// What stands for a reduction where the record holds the value itself.
  static constexpr std::uint32_t no_reduction = 0xFFFFFFFF;

  std::uint32_t tensor = 0;                ///< Id of the tensor.
  std::uint32_t reduction = no_reduction;  ///< Id of the reduction.
  std::uint32_t position = 0;              ///< Which of the row's records it is; below `TrialSnapshot::records`.

  [[nodiscard]] bool is_value() const noexcept { return reduction == no_reduction; }
};

/// Names what one index file lists. Stays the same in later snapshots of the trial.
struct RowId {
  GlobalStep step;
  std::uint32_t worker = 0;  ///< Id of the worker.
  std::uint64_t file = 0;    ///< Tells several files of one worker and step apart.

  auto operator<=>(const RowId&) const = default;
};

/// What one worker saved at one step, as one index file lists it. A light handle: it is valid as long as the snapshot
/// that gave it, and two handles of the same row are equal.
class SMD_EXPORT SavedRow {
 public:
  [[nodiscard]] GlobalStep step() const noexcept;
  /// As this worker has it; another worker may claim another mode for the same step.
  [[nodiscard]] Mode mode() const noexcept;
  [[nodiscard]] ModeStep mode_step() const noexcept;
  [[nodiscard]] std::uint32_t worker() const noexcept;  ///< Id of the worker.
  [[nodiscard]] RowId id() const noexcept;

  bool operator==(const SavedRow&) const = default;
  /// Any order that keeps the rows of one step together, by worker.
  [[nodiscard]] bool operator<(const SavedRow& other) const noexcept { return std::less<>()(row_, other.row_); }
  [[nodiscard]] std::size_t hash() const noexcept { return std::hash<const void*>()(row_); }

 private:
  friend class TrialSnapshot;
  explicit SavedRow(const detail::layout::StepRow& row) noexcept : row_(&row) {}

  const detail::layout::StepRow* row_;
};

/// One known step of a snapshot. Valid as long as that.
class SnapshotStep {
 public:
  [[nodiscard]] GlobalStep step() const noexcept { return step_; }
  /// As the first worker by name has it.
  [[nodiscard]] Mode mode() const noexcept { return mode_; }
  [[nodiscard]] ModeStep mode_step() const noexcept { return mode_step_; }
  [[nodiscard]] bool complete() const noexcept { return complete_; }

 private:
  friend class TrialSnapshot;
  SnapshotStep() = default;

  GlobalStep step_;
  ModeStep mode_step_;
  const detail::layout::StepRow* first_row_ = nullptr;
  std::uint32_t rows_ = 0;
  Mode mode_ = Mode::global;
  bool complete_ = false;
};

/// Something that keeps index files or their folders from being read in full: steps or records may be unknown.
struct IndexProblem {
  Problem problem;
  std::optional<GlobalStep> step = {};       ///< None: any step may be concerned.
  std::optional<std::uint32_t> worker = {};  ///< Of a file of which nothing could be read: its worker's id.
};

/// A trial as it was at one moment. It never changes, and copying is cheap. All const members may be called from many
/// threads. What it returns by reference, view, span or handle is valid as long as any copy of it.
///
/// Tensors, reductions and workers have ids: small numbers, counted from 0, that stay the same in later snapshots of
/// the trial as long as `generation` does. Only ids that a snapshot has may be given to it.
class SMD_EXPORT TrialSnapshot {
 public:
  /// The trial as a query sees it now: looks for what is new first, if the trial's queries do.
  /// @throws ReadError if the trial cannot be listed any more.
  [[nodiscard]] static TrialSnapshot take(const Trial& trial);
  /// The trial as it was when it was last refreshed. Reads nothing.
  [[nodiscard]] static TrialSnapshot last(const Trial& trial);

  /// Whether nothing has changed between the two: they are of one trial and one refresh.
  [[nodiscard]] bool operator==(const TrialSnapshot& other) const noexcept;
  /// Another number after another directory took the trial's place.
  [[nodiscard]] std::uint64_t generation() const noexcept;
  /// `Trial::has_modes`.
  [[nodiscard]] bool has_modes() const noexcept;
  /// How the trial was opened.
  [[nodiscard]] const TrialOptions& options() const noexcept;

  [[nodiscard]] std::size_t tensors() const noexcept;  ///< How many there are; ids are below it.
  [[nodiscard]] std::string_view tensor(std::uint32_t id) const noexcept;
  [[nodiscard]] std::optional<std::uint32_t> find_tensor(std::string_view name) const noexcept;
  /// All tensors' ids in the byte order of their names.
  [[nodiscard]] std::span<const std::uint32_t> tensors_by_name() const noexcept;
  /// By id, the tensor's place in that order.
  [[nodiscard]] std::span<const std::uint32_t> tensor_ranks() const noexcept;
  [[nodiscard]] std::size_t reductions() const noexcept;  ///< How many kinds were saved; ids are below it.
  [[nodiscard]] std::string_view reduction(std::uint32_t id) const noexcept;
  [[nodiscard]] std::string_view worker(std::uint32_t id) const noexcept;
  /// By name. The same object in later snapshots as long as the collections do not change.
  [[nodiscard]] std::shared_ptr<const std::map<std::string, Collection>> collections() const;
  /// Problems with the files that define collections.
  [[nodiscard]] std::span<const Problem> collection_problems() const noexcept;
  /// A warning if fewer workers have a collections file than the job said would save. While the job runs they may still
  /// come.
  [[nodiscard]] std::optional<Problem> missing_collections_files() const;
  /// One flag a tensor: whether the query selects it. `steps`, if given, is what matching the query's own patterns may
  /// still take (`limits::pattern_question_steps` by default); what it took is subtracted, also when it throws.
  /// @throws InvalidArgument for a pattern that does not compile; MatchLimit.
  [[nodiscard]] std::vector<bool> select(const TensorQuery& query, std::uint64_t* steps = nullptr) const;

  /// Known steps, ascending: those after `after` and up to `last`, incomplete ones too.
  [[nodiscard]] std::vector<SnapshotStep> steps(std::optional<GlobalStep> after = {},
                                                std::optional<GlobalStep> last = {}) const;
  [[nodiscard]] std::optional<SnapshotStep> find_step(GlobalStep step) const noexcept;
  [[nodiscard]] StepState state(StepKey step) const;
  /// Returns if the step is available.
  /// @throws otherwise StepUnavailable; NoMoreData if the job ended before it; StepNotYetAvailable.
  void require(StepKey step) const;
  [[nodiscard]] bool ended() const noexcept;  ///< The end marker exists.
  /// Index files seen so far, whether in range and read or not.
  [[nodiscard]] std::size_t listed_files() const noexcept;
  /// In the order of folders and files. Notes and warnings are among them.
  [[nodiscard]] std::vector<IndexProblem> index_problems() const;

  /// By worker's name; of several rows of one worker the last one that has a tensor counts.
  [[nodiscard]] std::vector<SavedRow> rows(const SnapshotStep& step) const;
  /// The records of a row, by tensor's id, the value before reductions.
  [[nodiscard]] std::span<const SavedItem> items(SavedRow row) const noexcept;
  /// Those of one tensor; empty if none was saved.
  [[nodiscard]] std::span<const SavedItem> items(SavedRow row, std::uint32_t tensor) const noexcept;
  /// Rows of one list saved the same tensors and reductions. Most rows of a trial share a few lists.
  [[nodiscard]] std::uint32_t list(SavedRow row) const noexcept;
  [[nodiscard]] std::size_t lists() const noexcept;  ///< How many lists there are; their numbers are below it.
  /// One more than the largest position of the row's items.
  [[nodiscard]] std::size_t records(SavedRow row) const noexcept;
  /// Where a record lies in the row's event file. For `BlockReader`.
  [[nodiscard]] RecordRange record(SavedRow row, std::uint32_t position) const noexcept;
  /// `TensorLocation::bare` of a value that has no record; null if it has one. For `RecordRange::bare`.
  [[nodiscard]] std::shared_ptr<const BareValue> bare_value(SavedRow row, std::uint32_t position) const;
  /// Path of the row's event file, relative to the trial.
  [[nodiscard]] std::string event_file(SavedRow row) const;
  /// What a worker saved of a tensor (values, reductions or shapes) at the complete steps of one mode, or of all,
  /// ascending; one row a step.
  [[nodiscard]] std::vector<SavedRow> series(std::uint32_t tensor, std::uint32_t worker,
                                             std::optional<Mode> mode = {}) const;

 private:
  struct Impl;
  explicit TrialSnapshot(std::shared_ptr<const Impl> impl) noexcept : impl_(std::move(impl)) {}

  std::shared_ptr<const Impl> impl_;
};

}  // namespace smd

/// So that rows can be keys of unordered containers.
template <>
struct std::hash<smd::SavedRow> {
  [[nodiscard]] std::size_t operator()(const smd::SavedRow& row) const noexcept { return row.hash(); }
};
