// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/layout.hpp"
#include "storage/storage.hpp"
#include "trial/snapshot.hpp"

#include <smd/layout.hpp>
#include <smd/step_range.hpp>
#include <smd/trial_options.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace smd::detail::trial {

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

/// Makes the snapshots of a trial: looks for what is new in range, and adds it. One thread at a time makes one.
class SnapshotMaker {
 public:
  /// All arguments must outlive this. Precondition: for a remote store, `RemoteOptions::stop` is set.
  SnapshotMaker(storage::Storage& storage, const layout::Layout& layout, const LayoutTraits& traits,
                const TrialOptions& options, const WaitLimits& limits);

  /// Adds a range, which is read from the next snapshot on. Returns false if all steps are in range already.
  [[nodiscard]] bool add_range(const StepRange& range);

  /// Makes the snapshot after `latest()`, which may be null, and passes it to `publish`. Calls both while no other
  /// thread can make one. @throws ReadError, MissingCollectionFiles, and IndexReaderException if the options are
  /// strict; then nothing has changed.
  template <class Latest, class Publish>
  void make(std::chrono::steady_clock::time_point now, const Latest& latest, const Publish& publish) {
    const std::lock_guard lock(making_);
    publish(make_next(now, latest()));
  }

  /// Returns the number of threads for reading, at most `wanted`; 0: the number in the options.
  [[nodiscard]] unsigned jobs(unsigned wanted = 0) const noexcept;

 private:
  using Time = std::chrono::steady_clock::time_point;

  [[nodiscard]] std::shared_ptr<const Snapshot> make_next(Time now, std::shared_ptr<const Snapshot> before);
  [[nodiscard]] std::shared_ptr<Snapshot> load(Time now, std::shared_ptr<const Snapshot> before);
  [[nodiscard]] layout::Found look(Time now, const Snapshot* before, bool everything);
  template <class ForEachRow>
  std::vector<layout::StepRow> rows_in_range(const ForEachRow& for_each_row, Snapshot& snapshot);
  void take(Snapshot& snapshot, layout::Found&& found, bool first);
  void supersede(Snapshot& snapshot, std::vector<layout::StepRow>& rows, std::span<const Superseding> later) const;
  void settle(Snapshot& snapshot, bool news, Time now);
  void require_not_stopped() const;
  [[noreturn]] void throw_missing_collections() const;

  storage::Storage& storage_;
  const layout::Layout& layout_;
  const LayoutTraits& traits_;
  const TrialOptions& options_;
  const WaitLimits& limits_;
  std::size_t window_;

  std::mutex making_;
  // Guarded by `making_`:
  std::vector<StepRange> ranges_;
  bool ranges_changed_ = false;
  std::atomic<bool> stopped_ = false;  // the look
  std::optional<Time> quiet_since_;    // since when the job has ended and nothing new came
};

}  // namespace smd::detail::trial
