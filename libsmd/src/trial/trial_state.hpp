// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.hpp"
#include "layout/layout.hpp"
#include "storage/storage.hpp"
#include "text/limits.hpp"
#include "trial/opened_trial.hpp"
#include "trial/snapshot.hpp"
#include "types/problem_list.hpp"

#include <smd/find.hpp>
#include <smd/place.hpp>
#include <smd/problem.hpp>
#include <smd/tensor.hpp>
#include <smd/trial.hpp>
#include <smd/trial_options.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace smd::detail::trial {

/// Locates the values of a trial, and explains why reading them fails. Thread-safe.
class Records {
 public:
  /// `storage` and `layout` must outlive this.
  Records(storage::Storage& storage, const layout::Layout& layout) : storage_(storage), layout_(layout) {}

  /// Returns where an entry of a row is. `file`: that of the row.
  [[nodiscard]] Place place(const Snapshot& snapshot, const layout::StepRow& row, std::uint32_t position,
                            std::shared_ptr<const std::string> file) const;
  [[nodiscard]] Place place(const Snapshot& snapshot, const layout::StepRow& row, std::uint32_t position) const {
    return place(snapshot, row, position, file(snapshot, row));
  }
  /// Returns the file that holds a row's entries, relative to the trial.
  [[nodiscard]] std::shared_ptr<const std::string> file(const Snapshot& snapshot, const layout::StepRow& row) const;
  /// Overwrites `entry` with all that `row` saved of a tensor. Returns false if it saved nothing; `entry` is then
  /// unspecified. `file`: that of the row.
  bool fill(const Snapshot& snapshot, const layout::StepRow& row, std::uint32_t tensor,
            const std::shared_ptr<const std::string>& file, TensorEntry& entry) const;
  /// Returns all that `row` saved of a tensor. Nullopt if it saved nothing.
  [[nodiscard]] std::optional<TensorEntry> entry(const Snapshot& snapshot, const layout::StepRow& row,
                                                 std::uint32_t tensor) const;

  /// Returns where to read a record again after a problem. If the problem may be temporary (descriptors ran out), that
  /// is the same place. On a remote store, an object may have been replaced since the index file was read: then it is
  /// the place in that file, read again. Nullopt if reading again is useless.
  [[nodiscard]] std::optional<Place> again(const Problem& problem, const Place& place, std::string_view tensor,
                                           const Snapshot& snapshot) const;
  /// Discards index files that were read again: a new snapshot replaces them.
  void forget_again();

  /// Returns a problem with a record, with the kind that follows from the state of the job: `absent`, `not_yet`,
  /// `damaged`, or unchanged.
  [[nodiscard]] Problem explain(Problem problem, const Place& place, const Snapshot& snapshot) const;
  /// Returns whether the worker that writes an event file has written a later one: missing data will then not come.
  [[nodiscard]] bool writer_went_on(const std::string& file, const Snapshot& snapshot) const;

 private:
  /// Sets all members of a place except its file.
  void set(const Snapshot& snapshot, const layout::Payload& payload, std::uint32_t position, Place& place) const;
  [[nodiscard]] const layout::StepRow* row_naming(std::string_view event_file, const Snapshot& snapshot) const;
  [[nodiscard]] std::shared_ptr<const layout::LoadedSteps> read_again(const layout::StepPart& file,
                                                                      const Snapshot& snapshot) const;

  storage::Storage& storage_;
  const layout::Layout& layout_;

  mutable std::mutex again_mutex_;
  // Index files read again since the last snapshot was made; guarded by `again_mutex_`.
  mutable std::map<layout::StepPart, std::shared_ptr<const layout::LoadedSteps>> again_;
};

/// Limits for waiting, from environment variables; docs/format.md.
struct WaitLimits {
  std::chrono::nanoseconds end_delay = std::chrono::seconds(1);
  std::size_t missing_event_file_retries = 100;
  /// How many steps may lack a worker before the oldest of them count as complete.
  std::size_t incomplete_steps = 1000;
  /// How long a half-written index file may stay unchanged before it is damaged.
  std::chrono::nanoseconds half_written = std::chrono::seconds(10);

  static WaitLimits from_environment();
};

/// Ends requests, besides the caller's own `RemoteOptions::stop`, when the wait of the current look ends. Of several
/// concurrent waits, the one that looked last counts. Thread-safe.
class LookLimit {
 public:
  using Time = std::chrono::steady_clock::time_point;

  void set(std::stop_token stop, std::optional<Time> end) {
    const std::lock_guard lock(mutex_);
    stop_ = std::move(stop);
    end_ = end;
  }
  [[nodiscard]] bool over() {
    const std::lock_guard lock(mutex_);
    return stop_.stop_requested() || (end_ && std::chrono::steady_clock::now() >= *end_);
  }

 private:
  std::mutex mutex_;
  std::stop_token stop_;  // guarded by mutex_, like end_
  std::optional<Time> end_;
};

/// A trial and its latest snapshot: it looks for what is new in range, and adds it. Shared by the `Trial` and its
/// `Tensor`s. Other threads use the last snapshot while one thread makes the next.
class TrialState {
 public:
  TrialState(const std::string& path, TrialOptions options, const Environment& environment = {});

  [[nodiscard]] const TrialOptions& options() const noexcept { return options_; }
  /// Returns `RemoteOptions::stop` as it was given, which ends reading of local values too.
  [[nodiscard]] const std::function<bool()>& stop() const noexcept { return stop_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] storage::Storage& storage() const noexcept { return *opened_.storage; }
  [[nodiscard]] const layout::Layout& layout() const noexcept { return *opened_.layout; }
  [[nodiscard]] const LayoutTraits& traits() const noexcept { return opened_.traits; }
  /// Returns whether later changes are not read.
  [[nodiscard]] bool stays() const noexcept {
    return options_.as_it_stands && !options_.until_it_grows && !traits().marks_steps;
  }
  /// Returns the name of the only file that is the trial; empty if all of the folder is.
  [[nodiscard]] const std::string& only_file() const noexcept { return opened_.file; }
  /// Returns folders in the trial that are trials of their own: those that opening it found.
  [[nodiscard]] const std::vector<std::string>& others() const noexcept { return opened_.others; }
  [[nodiscard]] const Records& records() const noexcept { return records_; }
  /// Returns the number of threads for reading, at most `wanted`; 0: the number in the options.
  [[nodiscard]] unsigned jobs(unsigned wanted = 0) const noexcept;

  /// Returns the snapshot for a query. Refreshes first if automatic refresh is on.
  [[nodiscard]] std::shared_ptr<const Snapshot> snapshot();
  /// As `snapshot`, for queries that never throw: if refreshing fails, notices the problem and returns the last
  /// snapshot.
  [[nodiscard]] std::shared_ptr<const Snapshot> snapshot_or_last();
  /// Lists the trial, reads what is new in range, and makes the latest snapshot. `awaited`: the caller waits for more.
  void refresh(bool awaited = false);
  /// Adds a range to read, and makes the latest snapshot.
  void load_range(const StepRange& range);

  /// Returns the last snapshot without a refresh.
  [[nodiscard]] std::shared_ptr<const Snapshot> current() const;
  /// For waiting: refreshes and returns the snapshot. A trial that was removed is an error, unless another takes its
  /// place within two seconds; until then, returns the last snapshot. A half-written index file that does not change
  /// becomes damaged. Does not disturb waits of other threads.
  [[nodiscard]] std::shared_ptr<const Snapshot> look();
  /// As `look`, but `stop` and `end` also end requests to a remote store.
  /// @throws also ReadError of kind stopped.
  [[nodiscard]] std::shared_ptr<const Snapshot> look_until(const std::stop_token& stop,
                                                           std::optional<std::chrono::steady_clock::time_point> end);
  /// Before waiting for more: throws if part of the trial can no longer be listed, because nothing more could be found.
  void require_readable(const Snapshot& snapshot) const;
  [[nodiscard]] const Clock& clock() const noexcept { return clock_; }
  [[nodiscard]] const WaitLimits& wait_limits() const noexcept { return limits_; }
  [[nodiscard]] std::atomic<bool>& auto_refresh() noexcept { return auto_refresh_; }
  /// Whether looks keep values back (`layout::Listing::keeps_back`): true while a follower looks, which must return
  /// each value only once.
  [[nodiscard]] std::atomic<bool>& keeps_back() noexcept { return keeps_back_; }

  /// Records a problem that a query found, once.
  void notice(Problem problem);
  [[nodiscard]] std::vector<Problem> problems() const;

 private:
  using Time = std::chrono::steady_clock::time_point;

  /// Makes the snapshot after the latest, which then is the latest. @throws ReadError, MissingCollectionFiles, and
  /// IndexReaderException if the options are strict; then nothing has changed.
  void make_snapshot(bool awaited = false);
  [[nodiscard]] std::shared_ptr<const Snapshot> look_once();
  // For the thread that makes a snapshot:
  [[nodiscard]] std::shared_ptr<Snapshot> next_snapshot(Time now, std::shared_ptr<const Snapshot> before, bool awaited);
  [[nodiscard]] layout::Found find_news(Time now, const Snapshot* before, bool everything, bool as_it_stands);
  template <class ForEachRow>
  std::vector<layout::StepRow> rows_in_range(const ForEachRow& for_each_row, Snapshot& snapshot);
  void take(Snapshot& snapshot, layout::Found&& found, bool first);
  void settle(Snapshot& snapshot, const Snapshot* before, bool news, Time now);
  void look_beside(Time now);
  void require_not_stopped() const;
  [[noreturn]] void throw_missing_collections(const layout::CollectionsInfo& collections) const;

  std::shared_ptr<LookLimit> look_limit_ = std::make_shared<LookLimit>();
  const std::function<bool()> stop_;
  const TrialOptions options_;
  const Clock& clock_;
  const WaitLimits limits_;
  std::atomic<bool> auto_refresh_;
  std::atomic<bool> keeps_back_ = false;
  std::atomic<Time> look_beside_at_ = Time();  // when to look again for runs beside this one
  const OpenedTrial opened_;
  const std::string name_;
  const std::string path_;
  Records records_;
  const std::size_t window_ = options_.incomplete_step_wait_window.value_or(limits_.incomplete_steps);

  std::mutex making_;
  // Guarded by `making_`:
  std::vector<StepRange> ranges_{options_.range_steps};
  bool ranges_changed_ = false;
  bool as_it_stands_ = options_.as_it_stands;  // false once `until_it_grows` has ended it
  std::atomic<bool> stopped_ = false;          // the look
  std::optional<Time> quiet_since_;            // since when the job has ended and nothing new came
  std::size_t marks_ = 0;                      // how often the end marker was seen to be written
  bool goes_on_ = false;                       // something came after the latest end marker

  mutable std::mutex noticed_mutex_;
  ProblemList noticed_{limits::problems_per_trial};  // by queries; guarded by noticed_mutex_, like its texts
  std::unordered_set<std::string> noticed_texts_;

  mutable std::mutex mutex_;
  // Guarded by `mutex_`:
  std::shared_ptr<const Snapshot> latest_;
  std::optional<Time> gone_since_;  // when looks began to find the trial missing
};

/// While an object lives, queries by this thread do not refresh its trials. Objects may nest.
class HoldStill {
 public:
  explicit HoldStill(const TrialState& state) : HoldStill(std::vector{&state}) {}
  explicit HoldStill(std::vector<const TrialState*> states) noexcept;
  HoldStill(const HoldStill&) = delete;
  HoldStill& operator=(const HoldStill&) = delete;
  ~HoldStill();

  /// Returns whether this thread holds a trial still.
  [[nodiscard]] static bool holds(const TrialState& state) noexcept;

 private:
  std::vector<const TrialState*> states_;
  const HoldStill* before_;
};

/// A flag for each tensor id.
using TensorSet = std::vector<bool>;

/// Returns the ids of the tensors that a query asks for, each once, in no order. The query's own patterns take their
/// steps from `budget`, those of a collection from the snapshot's. Problems of the trial's patterns are noticed.
/// @throws InvalidArgument, MatchLimit for the query's own patterns.
[[nodiscard]] std::vector<std::uint32_t> select_ids(TrialState& state, const Snapshot& snapshot,
                                                    const TensorQuery& query, MatchBudget& budget);

/// Some rows of one step, valid as long as their snapshot.
using Rows = std::vector<const layout::StepRow*>;

/// Returns the rows for `key`: those of its first global step; for a mode step, only those that claim it.
[[nodiscard]] Rows rows_at(const Snapshot& snapshot, StepKey key);

/// Returns the rows that have a tensor, of each worker the last one, in the order of workers' names.
[[nodiscard]] Rows rows_with(const Snapshot& snapshot, const Rows& rows, std::uint32_t tensor);

/// Returns the tensors of which something was saved at some step, valid as long as the snapshot.
[[nodiscard]] const TensorSet& saved_ever(const Snapshot& snapshot);
/// Returns whether anything of a tensor in the catalog was saved at some step of the snapshot.
[[nodiscard]] bool was_saved(const Snapshot& snapshot, std::uint32_t tensor);

/// Returns whether a row saved anything of a tensor.
[[nodiscard]] bool has_tensor(const Snapshot& snapshot, const layout::StepRow& row, std::uint32_t tensor) noexcept;

/// Returns a text such as `step 5` or `EVAL step 3`.
[[nodiscard]] std::string describe(StepKey key);

/// Decides for all of the library and the commands why a step cannot be used: returns the tag of the error that says
/// it, StepNotYetAvailable, NoMoreData or StepUnavailable; empty if the step is available. `over`: the job has ended.
[[nodiscard]] std::string_view unavailable_tag(const Snapshot& snapshot, StepKey key, bool over);

/// Throws the error of that tag. Precondition: it is not empty.
[[noreturn]] void throw_unavailable(const Snapshot& snapshot, StepKey key, std::string_view tag);

}  // namespace smd::detail::trial

namespace smd {

/// Hidden: otherwise it would be exported with its class.
struct __attribute__((visibility("hidden"))) Trial::Impl final : detail::trial::TrialState {
  using TrialState::TrialState;
};

/// Access to a trial's internals, for other parts of the library and tests.
struct detail::TrialAccess {
  /// Opens a trial with a clock, a storage and a layout of the caller's choice.
  [[nodiscard]] static Trial open(const std::string& path, const TrialOptions& options,
                                  const trial::Environment& environment) {
    return Trial(std::make_shared<Trial::Impl>(path, options, environment));
  }
  [[nodiscard]] static trial::TrialState& state(const Trial& trial) noexcept { return *trial.impl_; }
  [[nodiscard]] static std::shared_ptr<trial::TrialState> shared_state(const Trial& trial) { return trial.impl_; }
};

}  // namespace smd
