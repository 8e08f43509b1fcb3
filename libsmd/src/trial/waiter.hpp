// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/storage.hpp"
#include "trial/trial_state.hpp"

#include <smd/wait.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

namespace smd::detail::trial {

/// Sleeps until there may be something new. Made before the first look, so that nothing falls between.
class Waiter {
 public:
  using Time = std::chrono::steady_clock::time_point;

  Waiter(TrialState& state, const WaitOptions& options);
  /// For a trial that is not there yet: `watch` tells when to try again.
  Waiter(const Clock& clock, std::unique_ptr<storage::Watch> watch, const WaitOptions& options, bool remote);

  /// Until something may have changed, `due`, the deadline, the end of `WaitOptions::idle`, or a request to stop.
  void pause(std::optional<Time> due);

  [[nodiscard]] bool stopped() const noexcept { return options_.stop.stop_requested(); }
  [[nodiscard]] bool passed() const noexcept { return options_.deadline && clock_.now() >= *options_.deadline; }
  /// What ends the wait now; none: nothing does.
  [[nodiscard]] std::optional<WaitOutcome> over() const noexcept;
  /// Counts `WaitOptions::idle` anew.
  void saw_step() noexcept { quiet_since_ = clock_.now(); }
  [[nodiscard]] bool idle() const noexcept { return options_.idle && clock_.now() - quiet_since_ >= *options_.idle; }
  [[nodiscard]] std::chrono::milliseconds interval() const noexcept { return interval_; }
  [[nodiscard]] std::string method() const { return watch_->method(); }
  /// See Watch::quiet.
  [[nodiscard]] bool quiet() const noexcept { return watch_->quiet(); }

  /// `TrialState::look`, which ends with the wait. Nothing if that was so, and `over` says how.
  /// @throws as `look`; ReadError of kind stopped if `RemoteOptions::stop` had another reason than this wait's end.
  std::shared_ptr<const Snapshot> look(TrialState& state) const;

 private:
  void plan_looks(bool remote);

  struct Wake {
    storage::Watch* watch;
    void operator()() const noexcept { watch->wake(); }
  };

  const Clock& clock_;
  WaitOptions options_;
  std::chrono::milliseconds interval_;
  Time quiet_since_;
  std::optional<Time> end_;        // of requests; none if the time was up from the start: one look is made all the same
  std::optional<Time> last_look_;  // remote: ahead of the deadline, so that there is time for the answer
  std::unique_ptr<storage::Watch> watch_;
  std::stop_callback<Wake> wake_;
};

/// The interval asked for, or the storage's own.
[[nodiscard]] std::chrono::milliseconds interval_of(const WaitOptions& options, const storage::Storage& storage);

/// A storage's watch; one that polls if it has none.
[[nodiscard]] std::unique_ptr<storage::Watch> watch_of(storage::Storage& storage, std::chrono::milliseconds interval,
                                                       const storage::WatchScope& scope);

}  // namespace smd::detail::trial
