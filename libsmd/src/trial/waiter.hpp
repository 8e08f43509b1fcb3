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

/// When a trial is watched. From the first pause on, which then ends at once: the look that follows sees what changed
/// before. A watch that is not needed is not made: the system takes milliseconds to close one.
enum class Watching : std::uint8_t { from_the_start, from_the_first_pause };

/// Sleeps until there may be something new. Must be made before the first look, so that no change is missed.
class Waiter {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// `state` must outlive this.
  Waiter(TrialState& state, const WaitOptions& options, Watching watching);
  /// For a trial that does not exist yet: `watch` reports when to try again.
  Waiter(const Clock& clock, std::unique_ptr<storage::Watch> watch, const WaitOptions& options, bool remote);

  /// Sleeps until something may have changed, `due`, the deadline, the end of `WaitOptions::idle`, or a request to
  /// stop.
  void pause(std::optional<Time> due);

  [[nodiscard]] bool stopped() const noexcept { return options_.stop.stop_requested(); }
  [[nodiscard]] bool passed() const noexcept { return options_.deadline && clock_.now() >= *options_.deadline; }
  /// Returns why the wait ends now. Nullopt if it goes on.
  [[nodiscard]] std::optional<WaitOutcome> over() const noexcept;
  /// Restarts `WaitOptions::idle`.
  void saw_step() noexcept { quiet_since_ = clock_.now(); }
  [[nodiscard]] bool idle() const noexcept { return options_.idle && clock_.now() - quiet_since_ >= *options_.idle; }
  [[nodiscard]] std::chrono::milliseconds interval() const noexcept { return interval_; }
  /// @pre The trial is watched.
  [[nodiscard]] std::string method() const { return watch_->method(); }
  /// See Watch::quiet. False before the trial is watched.
  [[nodiscard]] bool quiet() const noexcept { return watch_ && watch_->quiet(); }

  /// `TrialState::look`, which ends with the wait. Null if the wait ended; `over` returns why.
  /// @throws as `look`; ReadError of kind stopped if `RemoteOptions::stop` ended it for another reason.
  std::shared_ptr<const Snapshot> look(TrialState& state) const;

 private:
  void plan_looks(bool remote);
  void watch(std::unique_ptr<storage::Watch> watch);

  struct Wake {
    storage::Watch* watch;
    void operator()() const noexcept { watch->wake(); }
  };

  const Clock& clock_;
  WaitOptions options_;
  std::chrono::milliseconds interval_;
  Time quiet_since_;
  std::optional<Time> end_;        // of requests; nullopt if the deadline passed before the first look, which is made
  std::optional<Time> last_look_;  // remote: before the deadline, to leave time for the response
  TrialState* state_ = nullptr;    // to be watched from the first pause on
  std::unique_ptr<storage::Watch> watch_;
  std::optional<std::stop_callback<Wake>> wake_;
};

/// Returns a storage's watch, or one that polls if it has none.
[[nodiscard]] std::unique_ptr<storage::Watch> watch_of(storage::Storage& storage, std::chrono::milliseconds interval,
                                                       const storage::WatchScope& scope);

}  // namespace smd::detail::trial
