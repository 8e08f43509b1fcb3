// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/collection.hpp>
#include <smd/error.hpp>
#include <smd/export.hpp>
#include <smd/find.hpp>
#include <smd/problem.hpp>
#include <smd/shape.hpp>
#include <smd/step.hpp>
#include <smd/tensor.hpp>
#include <smd/tensor_view.hpp>
#include <smd/trial_options.hpp>
#include <smd/value_reader.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smd {

/// One known step, and what was saved at it.
struct StepInfo : SnapshotStep {
  std::size_t tensors = 0;                ///< Number of tensors of which anything was saved.
  std::vector<std::string> workers = {};  ///< Workers that wrote the step, by name.
  std::uint64_t bytes = 0;                ///< That the entries take, as `TrialSnapshot::bytes`.
};

/// What is known of one tensor over all steps in range.
struct TensorSummary {
  std::string tensor;
  std::size_t steps = 0;
  GlobalStep first_step;
  GlobalStep last_step;
  std::vector<Mode> modes;           ///< By number.
  std::vector<std::string> workers;  ///< By name.
  std::vector<std::string> saved;    ///< `value`, `shape`, and names of reductions, in this order.
  std::uint64_t bytes = 0;           ///< As in `StepInfo`.
  std::optional<Shape> shape;        ///< The last shape that was saved by itself; nullopt if none was.
};

/// A value in a trial's files that is not a tensor.
struct OtherValue {
  std::string kind;  ///< `hparams`, `graph`, `session`, …; `none` for a value that holds nothing.
  std::string name;  ///< Formed as a tensor's name; empty if it has none.
  std::int64_t step = 0;
  std::string worker;
  std::string file;  ///< Relative to the trial.
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  double wall_time = 0;  ///< Seconds since 1970.
};

namespace detail {
struct TrialAccess;
}

/// The result of reading one value: the value or a problem.
struct ReadResult {
  std::optional<TensorValue> value;
  std::optional<Problem> problem;  ///< Set if `value` could not be read.
  double wall_time = 0;            ///< Seconds since 1970 at which the value was written.
};

/// One training job's output directory, open for reading.
///
/// Opening lists the trial and reads the index files in range; values are read on request. Only functions with `wait`
/// or `when_there` in their names wait; to process the steps as they become complete, see `StepFollower`. A damaged
/// file does not affect the others; see `problems`.
///
/// Ways to read values, the simplest first:
/// - `Tensor::value`, `Tensor::values`: one value, or all of one tensor.
/// - `read`: many values of any tensors, each as a whole, in parallel.
/// - `ValueReader`: values of any size, block by block; with `parallel_read`, one in each thread.
///
/// Thread safety: const members may be called concurrently, also with `refresh` and `load_range`; each query sees one
/// consistent snapshot.
class SMD_EXPORT Trial {
 public:
  /// Opens a local directory, a file that is a trial, or `s3://bucket/prefix`. If the directory is no trial itself,
  /// opens its `debug-output`, else the only trial below it.
  /// @throws ReadError (NotFound, AccessDenied, io, network; NotYet for a log of which not even a line is there, unless
  /// `TrialOptions::as_it_stands`), MissingCollectionFiles, InvalidArgument; IndexReaderException if
  /// `TrialOptions::strict`.
  static Trial open(const std::string& path, const TrialOptions& options = {});

  Trial(Trial&&) noexcept = default;
  Trial& operator=(Trial&&) noexcept = default;

  /// Returns `TrialOptions::name`, else the last part of the path.
  [[nodiscard]] const std::string& name() const noexcept;
  /// Returns the directory in use, which lies below the given one if that is no trial itself, or the trial's only file.
  [[nodiscard]] const std::string& path() const noexcept;
  [[nodiscard]] const LayoutTraits& layout() const noexcept;
  /// Returns, by tensor, the number of values that later ones superseded, in all steps.
  [[nodiscard]] std::map<std::string, std::uint64_t> superseded() const;
  /// Returns what the files hold besides tensors, as found; at most the limit `other_values` (docs/security.md).
  [[nodiscard]] std::vector<OtherValue> other_values() const;
  /// Returns the exit code of a job that has ended and said so, as those of W&B do; else nullopt.
  [[nodiscard]] std::optional<std::int64_t> exit_code() const;
  /// Returns the hyperparameters that the job saved: JSON text by name (with several runs, by RUN/NAME).
  [[nodiscard]] std::map<std::string, std::string> hyperparameters() const;
  /// Returns the number of values in the files that contain or describe hyperparameters.
  [[nodiscard]] std::uint64_t hyperparameter_records() const;

  /// Returns the names of the tensors that a query selects, in byte order.
  /// @throws InvalidArgument for a pattern that does not compile, MatchLimit.
  [[nodiscard]] std::vector<std::string> tensor_names(const TensorQuery& query = {}) const;
  /// Does not throw if refreshing fails: answers from the last snapshot (see `problems`).
  [[nodiscard]] bool has_tensor(std::string_view name) const;
  /// @throws TensorUnavailable, with similar names.
  [[nodiscard]] Tensor tensor(std::string_view name) const;

  /// Returns the global steps, ascending; only complete ones unless asked otherwise.
  [[nodiscard]] std::vector<GlobalStep> steps(bool show_incomplete_steps = false) const;
  /// Returns the steps of a mode as mode steps, ascending. `Mode::global` gives all global steps.
  [[nodiscard]] std::vector<ModeStep> steps(Mode mode, bool show_incomplete_steps = false) const;
  /// Returns the modes of the steps in range, by number, without `global`.
  [[nodiscard]] std::vector<Mode> modes() const;
  /// Returns a step's mode, as the first worker by name saved it; nullopt if the step is not known.
  [[nodiscard]] std::optional<Mode> mode(GlobalStep step) const;
  /// Returns the step's number in its mode or, if `mode` is given, that of the first worker by name that claims this
  /// mode (of `Mode::global`, the step itself); nullopt if the step is not known, or no worker claims the mode.
  [[nodiscard]] std::optional<ModeStep> mode_step(GlobalStep step, std::optional<Mode> mode = {}) const;
  /// Returns the first global step that has this mode step; nullopt if no step has it.
  [[nodiscard]] std::optional<GlobalStep> global_step(Mode mode, ModeStep step) const;
  /// Returns all global steps that have this mode step, ascending: more than one if the job was restarted.
  [[nodiscard]] std::vector<GlobalStep> global_steps(Mode mode, ModeStep step) const;

  /// Returns the workers that have a collections file, by name.
  [[nodiscard]] std::vector<std::string> workers() const;
  /// Returns the workers that wrote index files in range, by name.
  [[nodiscard]] std::vector<std::string> writers() const;
  /// Returns the number of workers that the job said would save.
  [[nodiscard]] std::size_t num_workers() const;

  /// Returns the collections that were saved, or in which a layout that makes them of tensors' names has any.
  [[nodiscard]] std::map<std::string, Collection> collections() const;
  /// Returns the names, in byte order, of all collections that the trial defines: also of those that a layout would
  /// make of tensors' names and that have none yet.
  [[nodiscard]] std::vector<std::string> collection_names() const;
  /// Returns the collection of one of these names; nullopt for any other name (the reference makes a collection).
  [[nodiscard]] std::optional<Collection> collection(std::string_view name) const;

  /// Returns whether a step can be read. Does not throw if refreshing fails, as `has_tensor`.
  [[nodiscard]] StepState has_passed_step(StepKey step) const;
  /// Returns whether the event files that the index files of a step name exist: if a tool copies the files one by one,
  /// they may come later. Checks anew. False for an unknown step. @throws ReadError if the trial cannot be listed.
  [[nodiscard]] bool has_event_files(GlobalStep step) const;
  /// Returns the largest step that all workers wrote (when the job has ended, the largest step); nullopt if there is
  /// none.
  [[nodiscard]] std::optional<GlobalStep> last_complete_step() const;
  /// Returns whether the job has ended: by its end marker, W&B's exit record, or `TrialOptions::as_it_stands` without
  /// `until_it_grows`.
  [[nodiscard]] bool ended() const;
  /// Returns the steps that are there, in range or not, ascending: by the names of index files or, in a layout whose
  /// files do not mark steps, those that reading has shown.
  [[nodiscard]] std::vector<GlobalStep> listed_steps() const;

  /// Returns the problems found so far, including notes: those of opening and of collections, then of listing and
  /// of index files, then of what queries met, each of these once.
  [[nodiscard]] std::vector<Problem> problems() const;

  /// Lists the trial and reads what is new in range. Queries in other threads go on with their snapshots. Does nothing
  /// once the job has ended and everything in range was read. @throws ReadError if the trial cannot be listed any more,
  /// IndexReaderException as `open`.
  void refresh();
  /// Adds another range of steps to those that are read.
  void load_range(const StepRange& range);

  /// Opens a trial that need not exist yet: waits for its directory and the first collections file, or for the first
  /// line of a text file. Nullopt if time ran out (`WaitOptions::idle` counts too, because no step appears meanwhile)
  /// or the wait was stopped; `outcome`, if given, says which.
  /// @throws as `open`, except for what waiting may change: NotFound only if the deadline had passed before the first
  /// attempt, the path is something else, or a file in it is still refused at the deadline; MissingCollectionFiles only
  /// if the job has ended.
  static std::optional<Trial> open_when_there(const std::string& path, const TrialOptions& options,
                                              const WaitOptions& wait, WaitOutcome* outcome = nullptr);
  /// Waits until all these steps are `AVAILABLE`. Never returns `WaitOutcome::ended`. Refreshes the trial; leaves
  /// automatic refreshing as it is. In a layout without step files, a step was skipped once a later one has come, and
  /// nothing up to it for ten seconds.
  /// @throws StepUnavailable if one of the steps was skipped; NoMoreData if the job ended before one; ReadError as
  /// `StepFollower::next`.
  WaitOutcome wait_for_steps(std::span<const StepKey> steps, const WaitOptions& options = {}) const;
  /// Waits until `condition`, which is called after each refresh that may have changed something, returns true. Queries
  /// in it answer from that refresh. Returns `ended` only once the job is taken as ended; see `StepFollower`.
  /// @throws ReadError as `StepFollower::next`, and what `condition` throws.
  WaitOutcome wait_until(const std::function<bool()>& condition, const WaitOptions& options = {}) const;

  /// Returns one row per known step, ascending, including incomplete ones.
  [[nodiscard]] std::vector<StepInfo> step_infos() const;
  /// Returns the row of one step, at a cost that does not depend on the number of steps; nullopt for an unknown step.
  [[nodiscard]] std::optional<StepInfo> step_info(GlobalStep step) const;
  /// Returns one row per tensor, by name; only those in `names` unless it is empty.
  [[nodiscard]] std::vector<TensorSummary> summaries(const std::vector<std::string>& names = {}) const;

  /// Calls `visit` for the selected entries in the order step, tensor (byte order), worker; stops if it returns false.
  void for_each_entry(const EntryQuery& query, const std::function<bool(const TensorEntry&)>& visit) const;

  /// Reads whole values in parallel, and passes the results to `take` in the order of `wanted`, in the calling thread.
  /// Stops if `take` returns false or throws. A value that cannot be read gives a result with a problem. `open`, unless
  /// it is empty, sees each open value, in the thread that reads it, and may narrow it; if it returns false, the value
  /// is not read, and its result has neither value nor problem. @throws InvalidArgument for an empty place.
  void read(std::span<const WantedValue> wanted, const std::function<bool(std::size_t, ReadResult&&)>& take,
            const ReadOptions& options = {}, const std::function<bool(std::size_t, Extent&)>& open = {}) const;

 private:
  friend class Tensor;
  friend class StepFollower;
  friend struct detail::TrialAccess;
  struct Impl;
  explicit Trial(std::shared_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}

  std::shared_ptr<Impl> impl_;
};

/// Returns the name under which a reduction of a tensor is stored: `smdebug/reductions/abs_mean/NAME`.
[[nodiscard]] SMD_EXPORT std::string reduction_tensor_name(std::string_view reduction, std::string_view tensor);

/// What the files of a trial are together.
struct FileTotals {
  std::chrono::system_clock::time_point newest;  ///< When the newest was written, by the clock of what stores it.
  std::uint64_t bytes = 0;                       ///< Sum of their sizes.
};

/// Returns the totals of a trial's files of all kinds, without those of other trials in it. Lists them again: locally
/// one system call each, on S3 one request for 1000. Nullopt if it has none, or a folder cannot be listed (`problems`).
[[nodiscard]] SMD_EXPORT std::optional<FileTotals> file_totals(const Trial& trial);

/// During its lifetime queries of these trials do not refresh: all of them see the trials as they were at the last
/// refresh (`TrialOptions::auto_refresh` is off). It concerns all threads, or only that which constructed it. Destroy
/// guards of one trial in the reverse order of construction, and those of one thread in that thread and before the
/// trials.
class SMD_EXPORT NoRefresh {
 public:
  explicit NoRefresh(const Trial& trial) : NoRefresh(std::array{&trial}) {}
  explicit NoRefresh(std::span<const Trial* const> trials, bool in_this_thread = false);
  NoRefresh(const NoRefresh&) = delete;
  NoRefresh& operator=(const NoRefresh&) = delete;

 private:
  std::shared_ptr<const void> restores_;
};

/// During its lifetime queries of these trials refresh first, in all threads. Destroy it as a `NoRefresh`.
class SMD_EXPORT Refresh {
 public:
  explicit Refresh(const Trial& trial) : Refresh(std::array{&trial}) {}
  explicit Refresh(std::span<const Trial* const> trials);
  Refresh(const Refresh&) = delete;
  Refresh& operator=(const Refresh&) = delete;

 private:
  std::shared_ptr<const void> restores_;
};

}  // namespace smd
