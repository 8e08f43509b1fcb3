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
  Waiter(const Clock& clock, std::unique_ptr<storage::Watch> watch, const WaitOptions& options);

  /// Until something may have changed, `due`, the deadline, or a request to stop.
  void pause(std::optional<Time> due);

  [[nodiscard]] bool stopped() const noexcept { return options_.stop.stop_requested(); }
  [[nodiscard]] bool passed() const noexcept { return options_.deadline && clock_.now() >= *options_.deadline; }
  [[nodiscard]] std::chrono::milliseconds interval() const noexcept { return interval_; }
  [[nodiscard]] std::string method() const { return watch_->method(); }
  /// See Watch::quiet.
  [[nodiscard]] bool quiet() const noexcept { return watch_->quiet(); }

 private:
  struct Wake {
    storage::Watch* watch;
    void operator()() const noexcept { watch->wake(); }
  };

  const Clock& clock_;
  WaitOptions options_;
  std::chrono::milliseconds interval_;
  std::unique_ptr<storage::Watch> watch_;
  std::stop_callback<Wake> wake_;
};

/// The interval asked for, or the storage's own.
[[nodiscard]] std::chrono::milliseconds interval_of(const WaitOptions& options, const storage::Storage& storage);

/// A storage's watch; one that polls if it has none.
[[nodiscard]] std::unique_ptr<storage::Watch> watch_of(storage::Storage& storage, std::chrono::milliseconds interval);

}  // namespace smd::detail::trial
