// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/block_reader.hpp>
#include <smd/check.hpp>
#include <smd/collection.hpp>
#include <smd/error.hpp>
#include <smd/export.hpp>
#include <smd/find.hpp>
#include <smd/other_value.hpp>
#include <smd/problem.hpp>
#include <smd/query.hpp>
#include <smd/remote.hpp>
#include <smd/step.hpp>
#include <smd/step_info.hpp>
#include <smd/step_range.hpp>
#include <smd/tensor.hpp>
#include <smd/tensor_view.hpp>
#include <smd/trial_options.hpp>
#include <smd/wait.hpp>

#include <concepts>
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

namespace smd {

class Trial;

namespace detail {
struct TrialAccess;
}

/// One training job's output directory, open for reading.
///
/// Opening lists the trial and reads the index files in range; values are read when asked for. Nothing here waits but
/// what is called so: a trial that is still being written is read as it stands. A damaged file costs only itself; see
/// `problems`. To go through the steps as they come, see `StepFollower`.
///
/// Ways to read values, the simplest first:
/// - `Tensor::value`, `Tensor::values`: one value, or all of one tensor.
/// - `read`: many values of any tensors, each as a whole, in parallel.
/// - `read_blocks`: one or many values of any size, in blocks, with bounded memory.
/// - `parallel_for_each` with a `BlockReader` for each thread: many short values for one result, such as a row.
///
/// Thread safety: all const members may be called concurrently, also with `refresh` and `load_range`; each query sees
/// one consistent snapshot.
class SMD_EXPORT Trial {
 public:
  /// Opens a local directory, or `s3://bucket/prefix`. If it lacks `collections`, `index` and `events` but has
  /// `debug-output`, that is used.
  /// @throws ReadError (NotFound, AccessDenied, io, network), MissingCollectionFiles, InvalidArgument.
  static Trial open(const std::string& path, const TrialOptions& options = {});

  Trial(const Trial&) = delete;
  Trial(Trial&&) noexcept;
  Trial& operator=(const Trial&) = delete;
  Trial& operator=(Trial&&) noexcept;
  ~Trial();

  [[nodiscard]] const std::string& name() const noexcept;
  /// The directory in use, which ends in `debug-output` if that was found instead.
  [[nodiscard]] const std::string& path() const noexcept;
  /// How it lies on disk: `debugger`, `tensorboard`.
  [[nodiscard]] std::string_view layout() const noexcept;
  /// Whether steps have modes. Else all are of mode `global`, and names say what belongs to training.
  [[nodiscard]] bool has_modes() const noexcept;
  /// Whether a job marks its end; else only time tells that no more comes (see `TrialOptions::as_it_stands`).
  [[nodiscard]] bool marks_end() const noexcept;
  /// Whether files mark steps, so that each is complete at a certain moment; else a step can grow at any time.
  [[nodiscard]] bool marks_steps() const noexcept;
  /// By tensor, how many values do not count because a later one of a restarted job took their place.
  [[nodiscard]] std::map<std::string, std::uint64_t> superseded() const;
  /// What the files hold beside tensors, as found; at most `limits::other_values`.
  [[nodiscard]] std::vector<OtherValue> other_values() const;
  /// What the job says of itself; empty if nothing.
  [[nodiscard]] Hyperparameters hyperparameters() const;
  /// Whether it is read over a network: looking for what is new then costs requests, and nothing tells of changes.
  [[nodiscard]] bool remote() const noexcept;

  /// Names of the tensors that a query selects, in byte order.
  /// @throws InvalidArgument for a pattern that does not compile, MatchLimit.
  [[nodiscard]] std::vector<std::string> tensor_names(const TensorQuery& query = {}) const;
  /// The same of a collection: its names and patterns unite with the query's `names`, `regex` and `collections`. One
  /// that has neither stands for the trial's collection of its name.
  template <std::same_as<Collection> C>
  [[nodiscard]] std::vector<std::string> tensor_names(const C& collection, const TensorQuery& query = {}) const {
    return tensor_names_of(collection, query);
  }
  /// Never throws: where looking for what is new fails, the answer is by what is known (see `problems`).
  [[nodiscard]] bool has_tensor(std::string_view name) const;
  /// @throws TensorUnavailable, with the nearest names.
  [[nodiscard]] Tensor tensor(std::string_view name) const;

  /// Global steps, ascending; complete ones only unless asked otherwise.
  [[nodiscard]] std::vector<GlobalStep> steps(bool show_incomplete_steps = false) const;
  /// Steps of a mode as mode steps, ascending. `Mode::global` gives all global steps.
  [[nodiscard]] std::vector<ModeStep> steps(Mode mode, bool show_incomplete_steps = false) const;
  /// Modes of the covered steps, by number, without `global`.
  [[nodiscard]] std::vector<Mode> modes() const;
  /// Mode of a known step, as the first worker by name has it; nothing if the step is not known.
  [[nodiscard]] std::optional<Mode> mode(GlobalStep step) const;
  [[nodiscard]] std::optional<ModeStep> mode_step(GlobalStep step) const;
  /// What a worker calls a step in a mode, though the first worker may claim another; nothing if none claims that mode.
  /// `Mode::global`: the step itself, if it is known.
  [[nodiscard]] std::optional<ModeStep> mode_step(GlobalStep step, Mode mode) const;
  /// The first global step that has this mode step; nothing if there is none.
  [[nodiscard]] std::optional<GlobalStep> global_step(Mode mode, ModeStep step) const;
  /// All global steps that claim this mode step, ascending: more than one if the job was restarted.
  [[nodiscard]] std::vector<GlobalStep> global_steps(Mode mode, ModeStep step) const;

  /// Workers that have a collections file, by name.
  [[nodiscard]] std::vector<std::string> workers() const;
  /// Workers that wrote index files in range, by name.
  [[nodiscard]] std::vector<std::string> writers() const;
  /// How many workers the job said would save.
  [[nodiscard]] std::size_t num_workers() const;

  [[nodiscard]] std::map<std::string, Collection> collections() const;
  /// Nothing if the trial defines no such collection; none is made, as the reference does.
  [[nodiscard]] std::optional<Collection> collection(std::string_view name) const;

  /// Whether a step can be read: `AVAILABLE`, `UNAVAILABLE` (skipped, or the job ended) or `NOT_YET_AVAILABLE`.
  /// Never throws, as `has_tensor`.
  [[nodiscard]] StepState has_passed_step(StepKey step) const;
  /// Whether the event files that the index files of a step name exist: where files come one by one from another
  /// machine, an index file may come first. Looks anew, at each worker's file of this step. False if the step is not
  /// known. Never throws.
  [[nodiscard]] bool has_event_files(GlobalStep step) const;
  /// The largest step that all workers wrote (when the job has ended: the largest step); nothing if there is none.
  [[nodiscard]] std::optional<GlobalStep> last_complete_step() const;
  /// The end marker exists.
  [[nodiscard]] bool ended() const;
  /// Steps for which there are index files, by their names alone, in range or not; ascending.
  [[nodiscard]] std::vector<GlobalStep> listed_steps() const;

  /// What was found wrong on the way here, each once, in the order of files; notes included.
  [[nodiscard]] std::vector<Problem> problems() const;

  /// Looks for what is new. Readers in other threads go on with what they have. Does nothing once the job has ended
  /// and everything in range was read. @throws ReadError if the trial cannot be listed any more.
  void refresh();
  /// Reads a further range of steps too.
  void load_range(const StepRange& range);

  /// Opens a trial that need not be there yet: waits for its directory and the first collections file. Nothing if that
  /// took too long (as no step comes meanwhile, `idle` bounds it too) or was stopped; `outcome`, if given, says which.
  /// @throws as `open`, but for what waiting may mend; NotFound only if the deadline had passed before the first look
  /// or something else than a directory is there, MissingCollectionFiles only if the job has ended.
  static std::optional<Trial> open_when_there(const std::string& path, const TrialOptions& options,
                                              const WaitOptions& wait, WaitOutcome* outcome = nullptr);
  /// Waits until all these steps are `AVAILABLE`. Never `WaitOutcome::ended`. Refreshes the trial; leaves automatic
  /// refreshing as it is.
  /// @throws StepUnavailable: one of them was skipped; NoMoreData: the job ended before it; ReadError as
  /// `StepFollower::next`.
  WaitOutcome wait_for_steps(std::span<const StepKey> steps, const WaitOptions& options = {}) const;
  /// Waits until `condition`, which is called after each refresh that may have changed something, is true. Queries in
  /// it answer from that refresh. `ended` only once the end of the job is believed; see `StepFollower`.
  /// @throws ReadError as `StepFollower::next`, and what `condition` throws.
  WaitOutcome wait_until(const std::function<bool()>& condition, const WaitOptions& options = {}) const;
  /// How `wait_for_steps`, `wait_until` and `StepFollower` notice changes: `inotify`, or `polling` and why.
  [[nodiscard]] std::string watch_method() const;

  /// One row per known step, ascending; incomplete ones too.
  [[nodiscard]] std::vector<StepInfo> step_infos() const;
  /// The row of one step; nothing if it is not known. Costs the same however long the trial is.
  [[nodiscard]] std::optional<StepInfo> step_info(GlobalStep step) const;
  /// One row per tensor, by name. Pass `names` to limit it; empty: all.
  [[nodiscard]] std::vector<TensorSummary> summaries(const std::vector<std::string>& names = {}) const;

  /// Calls `visit` for the selected entries in the order step, tensor (byte order), worker; stops when it returns
  /// false.
  void for_each_entry(const EntryQuery& query, const std::function<bool(const TensorEntry&)>& visit) const;

  /// Reads records, in parallel, and hands the results to `take` in the order of `locations`, in the calling thread.
  /// `tensors[i]` is the name that record `i` must bear (for a reduction, the whole stored name). Stops when `take`
  /// returns false. A record that cannot be read is a result too.
  void read(std::span<const TensorLocation> locations, std::span<const std::string> tensors,
            const std::function<bool(std::size_t, ReadResult&&)>& take, const ReadOptions& options = {}) const;

  /// Reads one record in blocks. Returns the problem, if there is one; blocks before it may have been given.
  [[nodiscard]] std::optional<Problem> read_blocks(const TensorLocation& location, std::string_view tensor,
                                                   BlockSink& sink) const;

  /// Reads records in blocks, in parallel: the way to reduce many values, with memory that no value's size changes.
  /// `make(i)` gives the sink of record `i`; it and the sink are called in the thread that reads the record.
  /// `take(i, sink, problem)` gets each sink back with the problem, if there was one, in the order of `locations`, in
  /// the calling thread; it ends the reading by returning false. Neighbours in a file are best neighbours in
  /// `locations`: short ones are read in one go.
  void read_blocks(std::span<const TensorLocation> locations, std::span<const std::string> tensors,
                   const std::function<std::unique_ptr<BlockSink>(std::size_t)>& make,
                   const std::function<bool(std::size_t, std::unique_ptr<BlockSink>&&, std::optional<Problem>&&)>& take,
                   const ReadOptions& options = {}) const;

  /// Works on parts in parallel: `make(i)` returns part `i` below `parts`; `make` and the part's `work` are called in
  /// one of the threads. `take(i, part)` gets each finished part, in the order of parts, in the calling thread; it ends
  /// the work by returning false. Few finished parts wait for `take`, so the memory that they hold is bounded. The
  /// first exception ends the work and is rethrown.
  void parallel_for_each(std::size_t parts, const std::function<std::unique_ptr<TrialPart>(std::size_t)>& make,
                         const std::function<bool(std::size_t, std::unique_ptr<TrialPart>&&)>& take,
                         const ReadOptions& options = {}) const;

 private:
  friend class BlockReader;
  friend class Tensor;
  friend class StepFollower;
  friend class RefreshGuard;
  friend struct detail::TrialAccess;
  struct Impl;
  explicit Trial(std::shared_ptr<Impl> impl) noexcept;
  [[nodiscard]] std::vector<std::string> tensor_names_of(const Collection& collection, TensorQuery query) const;

  std::shared_ptr<Impl> impl_;
};

/// The name under which a reduction of a tensor is stored: `smdebug/reductions/abs_mean/NAME`.
[[nodiscard]] SMD_EXPORT std::string reduction_tensor_name(std::string_view reduction, std::string_view tensor);

}  // namespace smd
