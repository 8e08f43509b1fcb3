// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.hpp"
#include "layout/layout.hpp"
#include "storage/storage.hpp"
#include "trial/snapshot.hpp"
#include "trial/wait_limits.hpp"
#include "types/problem_list.hpp"

#include <smd/trial.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace smd::detail::trial {

/// What tests choose otherwise.
struct Environment {
  const Clock* clock = &system_clock();
  std::function<Outcome<std::unique_ptr<storage::Storage>>(const std::string& path)> open = {};
};

/// A trial's storage, layout and latest snapshot. Shared by the `Trial` and its `Tensor`s.
///
/// `loading` lets one thread at a time make a new snapshot, while others go on with the last; `mutex` guards the
/// pointer to it and what queries noticed.
class TrialState {
 public:
  TrialState(const std::string& path, TrialOptions options, Environment environment = {});

  /// The storage that a trial at `path` would be read from, to be watched until there is one; null if there is none.
  static std::unique_ptr<storage::Storage> open_to_watch(const std::string& path);

  [[nodiscard]] const TrialOptions& options() const noexcept { return options_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const std::string& path() const noexcept { return storage_->root(); }
  [[nodiscard]] storage::Storage& storage() const noexcept { return *storage_; }
  [[nodiscard]] const layout::Layout& layout() const noexcept { return *layout_; }
  /// Threads worth using for reading.
  [[nodiscard]] unsigned jobs(unsigned wanted = 0) const noexcept;

  /// The snapshot to answer from; looks for what is new first, if the options say so.
  [[nodiscard]] std::shared_ptr<const Snapshot> snapshot();
  /// For questions that never throw: where looking fails, that is noticed, and the last snapshot answers.
  [[nodiscard]] std::shared_ptr<const Snapshot> snapshot_or_last();
  /// Lists, reads what is new in range, and makes that the latest snapshot.
  void refresh();
  /// Reads a further range.
  void cover(const StepRange& range);

  /// The last snapshot, as it is.
  [[nodiscard]] std::shared_ptr<const Snapshot> current() const;
  /// For those who wait: `refresh`, but a trial that went away is an error of its own, unless another takes its place
  /// within two seconds; until then the last snapshot is given. A half-written index file that does not change becomes
  /// damage, and another thread's wait is not disturbed.
  [[nodiscard]] std::shared_ptr<const Snapshot> look();
  /// The same, where requests to a remote store end with `stop` and at `end` too.
  /// @throws also ReadError of kind stopped.
  [[nodiscard]] std::shared_ptr<const Snapshot> look_until(const std::stop_token& stop,
                                                           std::optional<std::chrono::steady_clock::time_point> end);
  /// Before waiting for more: throws if part of the trial can no longer be listed, so that nothing would ever come.
  void require_readable(const Snapshot& snapshot) const;
  [[nodiscard]] const Clock& clock() const noexcept { return *environment_.clock; }
  [[nodiscard]] const WaitLimits& wait_limits() const noexcept { return limits_; }
  [[nodiscard]] std::atomic<bool>& auto_refresh() noexcept { return auto_refresh_; }
  /// Whether a worker that writes an event file has written a later one: then what is not there will not come.
  [[nodiscard]] bool writer_went_on(const TensorLocation& location, const Snapshot& snapshot) const;

  /// Remembers what a query found wrong, once.
  void notice(Problem problem);
  [[nodiscard]] std::vector<Problem> problems() const;

  /// Reads records in parallel; `take` gets the results in order, in the calling thread. See `Trial::read`.
  void read(const Snapshot& snapshot, std::span<const TensorLocation> locations, std::span<const std::string> tensors,
            unsigned wanted_jobs, const std::function<bool(std::size_t, ReadResult&&)>& take) const;

  /// Where to read a record once more, after a problem. One that may pass (no descriptors were to be had): there again.
  /// On a remote store, where an object may have been replaced since the index file was read: where that file, read
  /// again, has the record now. Nothing: it would come to the same.
  [[nodiscard]] std::optional<TensorLocation> again(const Problem& problem, const TensorLocation& location,
                                                    std::string_view tensor, const Snapshot& snapshot) const;
  /// What `read(location)` gives, an Outcome or Status; if that is a problem, and `again` knows where, what it gives
  /// there. `reader` is the one that `read` uses.
  template <class Reader, class Read>
  [[nodiscard]] auto read_or_again(Reader& reader, const TensorLocation& location, std::string_view tensor,
                                   const Snapshot& snapshot, Read&& read) const {
    auto result = read(location);
    if (!result) {
      if (const std::optional<TensorLocation> place = again(result.problem(), location, tensor, snapshot)) {
        reader.close();  // perhaps for want of descriptors: once more with one fewer
        result = read(*place);
      }
    }
    return result;
  }

  /// What a problem with a record means, by what is known of the job: `absent`, `not_yet`, `damaged`, or as it was.
  [[nodiscard]] Problem judge(Problem problem, const TensorLocation& location, const Snapshot& snapshot) const;

  [[nodiscard]] TensorLocation location(const Snapshot& snapshot, const layout::StepRow& row,
                                        std::uint32_t position) const;
  /// All that `row` saved of a tensor; nothing if it saved nothing of it.
  /// Of the event file that a row names, relative to the trial.
  [[nodiscard]] std::string event_path(const Snapshot& snapshot, const layout::StepRow& row) const;
  /// `entry` written over another one; false, and nothing promised of `entry`, if there is none. `event_path`: the
  /// row's.
  bool fill(const Snapshot& snapshot, const layout::StepRow& row, std::uint32_t tensor, const std::string& event_path,
            TensorEntry& entry) const;
  [[nodiscard]] std::optional<TensorEntry> entry(const Snapshot& snapshot, const layout::StepRow& row,
                                                 std::uint32_t tensor) const;

 private:
  [[nodiscard]] std::shared_ptr<const layout::LoadedSteps> read_again(const layout::StepFile& file,
                                                                      const Snapshot& snapshot) const;
  void open_storage(const std::string& path);
  [[nodiscard]] std::shared_ptr<const Snapshot> look_once();
  [[noreturn]] void throw_missing_collections() const;
  void make_snapshot();
  void load_snapshot();
  void require_not_stopped() const;

  /// What ends requests besides the caller's own `RemoteOptions::stop`: the wait that the look at hand belongs to. Of
  /// several waits at once, the one that looked last.
  struct LookLimit {
    std::mutex mutex;
    std::stop_token stop;
    std::optional<std::chrono::steady_clock::time_point> end;

    void set(std::stop_token new_stop, std::optional<std::chrono::steady_clock::time_point> new_end);
    [[nodiscard]] bool over();
  };
  [[nodiscard]] std::optional<std::int64_t> first_open_step(const Snapshot& snapshot) const;
  std::vector<std::int64_t> load(Snapshot& snapshot, bool first);
  [[nodiscard]] std::vector<layout::StepFile> wanted_files(const Snapshot& snapshot, bool first) const;
  void note_failures(Snapshot& snapshot, layout::LoadedSteps& loaded, std::chrono::steady_clock::time_point now);
  void settle_newest(const layout::Listing& listing);
  /// Steps out of range whose files were read only to see who wrote them.
  struct Probes {
    int done = 0;
    std::vector<std::int64_t> undecided;
  };
  void find_last_complete(Snapshot& snapshot, std::optional<std::vector<std::int64_t>> touched) const;
  void find_waiting(Snapshot& snapshot, std::size_t needed) const;
  void update_waiting(Snapshot& snapshot, std::vector<std::int64_t> touched) const;
  [[nodiscard]] std::optional<std::int64_t> newest_by(const Snapshot& snapshot, std::size_t needed,
                                                      std::optional<std::int64_t> last, Probes& probes) const;
  [[nodiscard]] bool wrote(const Snapshot& snapshot, std::int64_t step, std::size_t needed, Probes& probes) const;
  [[nodiscard]] const layout::StepRow* row_naming(std::string_view event_file, const Snapshot& snapshot) const;
  [[nodiscard]] std::optional<bool> is_complete(const Snapshot& snapshot, std::int64_t step, std::size_t needed) const;
  [[nodiscard]] bool probe_complete(const Snapshot& snapshot, std::int64_t step, std::size_t needed) const;

  TrialOptions options_;
  Environment environment_;
  WaitLimits limits_;
  std::atomic<bool> auto_refresh_;
  std::string name_;
  std::size_t window_ = 1000;
  std::unique_ptr<storage::Storage> storage_;
  std::unique_ptr<layout::Layout> layout_;
  std::vector<Problem> opening_notes_;
  std::shared_ptr<LookLimit> look_limit_ = std::make_shared<LookLimit>();

  std::mutex loading_;
  // Guarded by `loading_`:
  std::vector<StepRange> ranges_;
  bool ranges_changed_ = false;
  std::optional<std::chrono::steady_clock::time_point> quiet_since_;  // the end marker was seen, and nothing new since
  struct HalfWritten {
    Problem problem;
    std::chrono::steady_clock::time_point since;
  };
  std::map<layout::StepFile, HalfWritten> half_written_;

  mutable std::mutex mutex_;
  std::shared_ptr<const Snapshot> latest_;
  std::optional<std::chrono::steady_clock::time_point> gone_since_;  // when a look found the trial away
  ProblemList noticed_{limits::problems_per_trial};
  std::unordered_set<std::string> noticed_texts_;

  mutable std::mutex again_mutex_;
  // Index files read again since the last snapshot was made; guarded by `again_mutex_`.
  mutable std::map<layout::StepFile, std::shared_ptr<const layout::LoadedSteps>> again_;
};

/// While one lives, queries of this thread about those trials do not refresh them. They nest.
class HoldStill {
 public:
  explicit HoldStill(const TrialState& state) : HoldStill(std::vector{&state}) {}
  explicit HoldStill(std::vector<const TrialState*> states) noexcept;
  HoldStill(const HoldStill&) = delete;
  HoldStill& operator=(const HoldStill&) = delete;
  ~HoldStill();

  /// Whether this thread holds a trial still.
  [[nodiscard]] static bool holds(const TrialState& state) noexcept;

 private:
  std::vector<const TrialState*> states_;
  const HoldStill* before_;
};

/// One flag a tensor id.
using TensorSet = std::vector<bool>;

/// The ids of the tensors that a query asks for, each once, in no order. The query's own patterns take their steps from
/// `budget`, those of a collection from the snapshot's. @throws InvalidArgument, MatchLimit for the query's own
/// patterns; those of the trial are noticed.
[[nodiscard]] std::vector<std::uint32_t> select_ids(TrialState& state, const Snapshot& snapshot,
                                                    const TensorQuery& query, MatchBudget& budget);
/// The same as flags.
[[nodiscard]] TensorSet select_tensors(TrialState& state, const Snapshot& snapshot, const TensorQuery& query,
                                       MatchBudget& budget);

/// The rows at which `key` is answered: those of its first global step; for a mode step, of these that claim it.
[[nodiscard]] std::vector<const layout::StepRow*> rows_at(const Snapshot& snapshot, StepKey key);

/// Of several rows of one worker the last one that has the tensor counts. Order of workers' names.
[[nodiscard]] std::vector<const layout::StepRow*> rows_with(const Snapshot& snapshot,
                                                            const std::vector<const layout::StepRow*>& rows,
                                                            std::uint32_t tensor);

/// Whether a row saved anything of a tensor.
[[nodiscard]] bool has_tensor(const Snapshot& snapshot, const layout::StepRow& row, std::uint32_t tensor) noexcept;

/// `step 5`, `EVAL step 3`.
[[nodiscard]] std::string describe(StepKey key);

/// Throws StepUnavailable or StepNotYetAvailable for a step that no index file names.
[[noreturn]] void throw_no_step(const Snapshot& snapshot, StepKey key);

/// For a step that never comes: throws NoMoreData if the job is `over` and no later step exists, else StepUnavailable.
[[noreturn]] void throw_unavailable(const Snapshot& snapshot, StepKey key, bool over);

}  // namespace smd::detail::trial
