// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.hpp"
#include "layout/layout.hpp"
#include "storage/storage.hpp"
#include "trial/look_limit.hpp"
#include "trial/noticed.hpp"
#include "trial/opened_trial.hpp"
#include "trial/records.hpp"
#include "trial/snapshot.hpp"
#include "trial/snapshot_maker.hpp"
#include "trial/wait_limits.hpp"

#include <smd/trial.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace smd::detail::trial {

/// A trial and its latest snapshot. Shared by the `Trial` and its `Tensor`s. Readers go on with the last snapshot while
/// one thread makes the next.
class TrialState {
 public:
  TrialState(const std::string& path, TrialOptions options, const Environment& environment = {});

  [[nodiscard]] const TrialOptions& options() const noexcept { return options_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const std::string& path() const noexcept { return opened_.storage->root(); }
  [[nodiscard]] storage::Storage& storage() const noexcept { return *opened_.storage; }
  [[nodiscard]] const layout::Layout& layout() const noexcept { return *opened_.layout; }
  [[nodiscard]] const Records& records() const noexcept { return records_; }
  /// Threads worth using for reading.
  [[nodiscard]] unsigned jobs(unsigned wanted = 0) const noexcept { return maker_.jobs(wanted); }

  /// The snapshot to answer from; looks for what is new first, if the options say so.
  [[nodiscard]] std::shared_ptr<const Snapshot> snapshot();
  /// For questions that never throw: where looking fails, that is noticed, and the last snapshot answers.
  [[nodiscard]] std::shared_ptr<const Snapshot> snapshot_or_last();
  /// Lists, reads what is new in range, and makes that the latest snapshot.
  void refresh();
  /// Reads a further range.
  void load_range(const StepRange& range);

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
  [[nodiscard]] const Clock& clock() const noexcept { return clock_; }
  [[nodiscard]] const WaitLimits& wait_limits() const noexcept { return limits_; }
  [[nodiscard]] std::atomic<bool>& auto_refresh() noexcept { return auto_refresh_; }

  /// Remembers what a query found wrong, once.
  void notice(Problem problem) { noticed_.add(std::move(problem)); }
  [[nodiscard]] std::vector<Problem> problems() const;

 private:
  void make_snapshot();
  [[nodiscard]] std::shared_ptr<const Snapshot> look_once();

  std::shared_ptr<LookLimit> look_limit_ = std::make_shared<LookLimit>();
  const TrialOptions options_;
  const Clock& clock_;
  const WaitLimits limits_;
  std::atomic<bool> auto_refresh_;
  const OpenedTrial opened_;
  const std::string name_;
  Records records_;
  SnapshotMaker maker_;
  Noticed noticed_;

  mutable std::mutex mutex_;
  // Guarded by `mutex_`:
  std::shared_ptr<const Snapshot> latest_;
  std::optional<std::chrono::steady_clock::time_point> gone_since_;  // when a look found the trial away
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

/// Whether anything of a tensor in the catalog was saved at some step of the snapshot.
[[nodiscard]] bool was_saved(const Snapshot& snapshot, std::uint32_t tensor);

/// Whether a row saved anything of a tensor.
[[nodiscard]] bool has_tensor(const Snapshot& snapshot, const layout::StepRow& row, std::uint32_t tensor) noexcept;

/// `step 5`, `EVAL step 3`.
[[nodiscard]] std::string describe(StepKey key);

/// Throws StepUnavailable or StepNotYetAvailable for a step that no index file names.
[[noreturn]] void throw_no_step(const Snapshot& snapshot, StepKey key);

/// For a step that never comes: throws NoMoreData if the job is `over` and no later step exists, else StepUnavailable.
[[noreturn]] void throw_unavailable(const Snapshot& snapshot, StepKey key, bool over);

}  // namespace smd::detail::trial
