// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/collection.hpp>
#include <smd/export.hpp>
#include <smd/problem.hpp>
#include <smd/step.hpp>
#include <smd/trial.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

/// For programs that make many queries about the same state of a trial: ids and spans instead of texts and copies.
namespace smd {

namespace detail::layout {
struct StepRow;
}

/// One record that a worker saved of a tensor at a step.
struct SavedItem {
  /// Value of `reduction` if the record holds the value itself.
  static constexpr std::uint32_t no_reduction = 0xFFFFFFFF;

  std::uint32_t tensor = 0;                ///< Id of the tensor.
  std::uint32_t reduction = no_reduction;  ///< Id of the reduction.
  std::uint32_t position = 0;              ///< Index of the record in its row.

  [[nodiscard]] bool is_value() const noexcept { return reduction == no_reduction; }
};

/// What one worker saved at one step, as one index file lists it. A light handle: it is valid as long as the snapshot
/// that returned it, and two handles of the same row are equal.
class SMD_EXPORT SavedRow {
 public:
  [[nodiscard]] GlobalStep step() const noexcept;
  [[nodiscard]] Mode mode() const noexcept;  ///< As this worker saved it; another may claim another mode.
  [[nodiscard]] ModeStep mode_step() const noexcept;
  [[nodiscard]] std::uint32_t worker() const noexcept;  ///< Id of the worker.
  /// Identifies what the index file lists, also in later snapshots of the trial: the step, the id of the worker, and a
  /// number that distinguishes several files of both.
  [[nodiscard]] std::tuple<GlobalStep, std::uint32_t, std::uint64_t> id() const noexcept;

  bool operator==(const SavedRow&) const = default;
  /// An unspecified order in which the rows of one step are adjacent and ordered by worker.
  [[nodiscard]] bool operator<(const SavedRow& other) const noexcept { return std::less<>()(row_, other.row_); }

 private:
  friend class TrialSnapshot;
  explicit SavedRow(const detail::layout::StepRow& row) noexcept : row_(&row) {}

  const detail::layout::StepRow* row_;
};

/// Why steps, records or members of collections may be unknown: a file or folder was not read in full.
struct SnapshotProblem {
  Problem problem;                           ///< Without a step, it may concern any.
  std::optional<std::uint32_t> worker = {};  ///< Id of the file's worker if nothing of the file could be read.
  bool of_collections = false;               ///< The file defines collections.
};

/// A trial as it was at one moment. It never changes, and copying is cheap. Many threads may call const members at the
/// same time. References, views, spans and handles that it returns are valid as long as any copy of it exists.
///
/// Tensors, reductions and workers have ids: small numbers, counted from 0, that stay the same in later snapshots of
/// the trial as long as `generation` does. Precondition of members that take an id: the snapshot has that id.
class SMD_EXPORT TrialSnapshot {
 public:
  /// Returns the trial as a query sees it now; refreshes first if the trial's queries do.
  /// @throws ReadError if the trial cannot be listed any more.
  [[nodiscard]] static TrialSnapshot take(const Trial& trial);
  /// Returns the trial as it was when it was last refreshed. Reads nothing.
  [[nodiscard]] static TrialSnapshot last(const Trial& trial);

  /// Returns whether both are from the same refresh of the same trial.
  [[nodiscard]] bool operator==(const TrialSnapshot& other) const noexcept;
  /// Returns a number that changes when another directory takes the trial's place.
  [[nodiscard]] std::uint64_t generation() const noexcept;
  /// Returns the options with which the trial was opened.
  [[nodiscard]] const TrialOptions& options() const noexcept;

  [[nodiscard]] std::size_t tensors() const noexcept;  ///< Number of tensors; their ids are below it.
  [[nodiscard]] std::string_view tensor(std::uint32_t id) const noexcept;
  [[nodiscard]] std::optional<std::uint32_t> find_tensor(std::string_view name) const noexcept;
  /// Returns all tensors' ids in the byte order of their names.
  [[nodiscard]] std::span<const std::uint32_t> tensors_by_name() const;
  /// Returns, by id, the tensor's place in that order.
  [[nodiscard]] std::span<const std::uint32_t> tensor_ranks() const;
  [[nodiscard]] std::size_t reductions() const noexcept;  ///< Number of kinds saved; ids are below it.
  [[nodiscard]] std::string_view reduction(std::uint32_t id) const noexcept;
  [[nodiscard]] std::string_view worker(std::uint32_t id) const noexcept;
  /// Returns one flag for each tensor: whether some step has anything of it. Superseded values do not count.
  [[nodiscard]] const std::vector<bool>& saved() const;
  /// Returns the collections by name: the same object in later snapshots as long as the collections do not change.
  [[nodiscard]] std::shared_ptr<const std::map<std::string, Collection>> collections() const;
  /// Returns whether the trial defines a collection of that name, as `Trial::collection` does.
  [[nodiscard]] bool has_collection(std::string_view name) const;
  /// Returns a warning if fewer workers have a collections file than the job said would save or, once it has ended,
  /// index files; else nullopt. While the job runs, the missing files may still appear.
  [[nodiscard]] std::optional<Problem> missing_collections_files() const;
  /// Returns one flag for each tensor: whether the query selects it. `steps`, if given, is the number of steps that
  /// matching the query's own patterns may take (by default the limit `pattern_question_steps`); the steps taken are
  /// subtracted from it, also when this throws.
  /// @throws InvalidArgument for a pattern that does not compile; MatchLimit.
  [[nodiscard]] std::vector<bool> select(const TensorQuery& query, std::uint64_t* steps = nullptr) const;

  /// Returns the known steps after `after` and up to `last`, ascending, including incomplete ones.
  [[nodiscard]] std::vector<SnapshotStep> steps(std::optional<GlobalStep> after = {},
                                                std::optional<GlobalStep> last = {}) const;
  /// Returns how many known steps, including incomplete ones, are not after `step`.
  [[nodiscard]] std::size_t num_steps_up_to(GlobalStep step) const noexcept;
  /// Returns a complete step up to which a later snapshot of the trial has the same rows, so that their handles are
  /// valid as long as either exists; nullopt if it may have none.
  [[nodiscard]] std::optional<GlobalStep> same_up_to(const TrialSnapshot& later) const noexcept;
  [[nodiscard]] std::optional<SnapshotStep> find_step(GlobalStep step) const noexcept;
  /// Returns which workers the incomplete steps wait for: `steps 6 to 299 are not complete (worker_1 has not written
  /// them)`. Leaves out the steps for which `counts` returns false. Returns an empty text if no step is left, or one
  /// that was written less than ten minutes ago: the newest step of a running job is incomplete at first. On S3, where
  /// the age of a step is unknown, a single step is never named.
  /// Once the job has ended, returns which workers stopped before the others: in a mode in which they wrote, they lack
  /// more steps at the end than they ever lacked in a row before, and a few. Of several such modes, names the first.
  [[nodiscard]] std::string incomplete_text(const std::function<bool(const SnapshotStep&)>& counts) const;
  [[nodiscard]] StepState state(StepKey step) const;
  /// Returns the tag of the error that `require`, `Tensor` and `Trial::wait_for_steps` throw: `StepUnavailable` if the
  /// step was skipped, `NoMoreData` if the job ended before it, `StepNotYetAvailable`; empty if it is available.
  [[nodiscard]] std::string_view unavailable_tag(StepKey step) const;
  void require(StepKey step) const;           ///< @throws the error that `unavailable_tag` names, if any.
  [[nodiscard]] bool ended() const noexcept;  ///< As `Trial::ended`.
  /// Returns the number of index files listed so far, in range or not; of a layout without step files, of steps.
  [[nodiscard]] std::size_t listed_files() const noexcept;
  /// Returns problems of the listing, then of index files, of entries and of collections, including notes and warnings.
  [[nodiscard]] std::vector<SnapshotProblem> problems() const;

  /// Returns a step's rows by worker's name; empty if the step is unknown. Of several rows of one worker, the last one
  /// that has a tensor counts.
  [[nodiscard]] std::vector<SavedRow> rows(GlobalStep step) const;
  /// Returns the records of a row by tensor's id, the value before reductions. Rows that saved the same share one span.
  [[nodiscard]] std::span<const SavedItem> items(SavedRow row) const noexcept;
  /// Returns the records of one tensor in a row; empty if none was saved.
  [[nodiscard]] std::span<const SavedItem> items(SavedRow row, std::uint32_t tensor) const noexcept;
  [[nodiscard]] std::size_t records(SavedRow row) const noexcept;  ///< Positions of the row's items are below it.
  /// Returns the bytes that an entry takes in its file; of a number, the size of its element.
  [[nodiscard]] std::uint64_t bytes(SavedRow row, std::uint32_t position) const noexcept;
  [[nodiscard]] std::string_view stored_name(SavedRow row, std::uint32_t position) const noexcept;  ///< Of its record.
  /// Returns the shape that a row has of a tensor without its value; null if it has none.
  [[nodiscard]] const Shape* saved_shape(SavedRow row, std::uint32_t tensor) const noexcept;
  /// Returns the path of the row's file, relative to the trial.
  [[nodiscard]] std::shared_ptr<const std::string> file(SavedRow row) const;
  /// Returns where an entry is. `file`: that of the row, which its places share.
  [[nodiscard]] Place place(SavedRow row, std::uint32_t position, std::shared_ptr<const std::string> file) const;
  /// Returns the rows in which a worker saved anything of a tensor (values, reductions or shapes) at the complete steps
  /// of one mode, or of all modes, after `after`, ascending, one row for each step.
  [[nodiscard]] std::vector<SavedRow> series(std::uint32_t tensor, std::uint32_t worker, std::optional<Mode> mode = {},
                                             std::optional<GlobalStep> after = {}) const;

 private:
  struct Impl;
  explicit TrialSnapshot(std::shared_ptr<const Impl> impl) noexcept : impl_(std::move(impl)) {}

  std::shared_ptr<const Impl> impl_;
};

}  // namespace smd
