// SPDX-License-Identifier: Apache-2.0
#include "trial/waiter.hpp"

#include "storage/polled_watch.hpp"

#include <algorithm>
#include <utility>

namespace smd::detail::trial {

std::chrono::milliseconds interval_of(const WaitOptions& options, const storage::Storage& storage) {
  return std::max(options.interval.value_or(storage.default_interval()), std::chrono::milliseconds(1));
}

std::unique_ptr<storage::Watch> watch_of(storage::Storage& storage, std::chrono::milliseconds interval) {
  if (std::unique_ptr<storage::Watch> watch = storage.watch(interval)) {
    return watch;
  }
  return std::make_unique<storage::PolledWatch>(interval, "polling");
}

Waiter::Waiter(TrialState& state, const WaitOptions& options)
    : clock_(state.clock()),
      options_(options),
      interval_(interval_of(options, state.storage())),
      watch_(watch_of(state.storage(), interval_)),
      wake_(options.stop, Wake{watch_.get()}) {}

Waiter::Waiter(const Clock& clock, std::unique_ptr<storage::Watch> watch, const WaitOptions& options)
    : clock_(clock),
      options_(options),
      interval_(options.interval.value_or(std::chrono::seconds(2))),
      watch_(std::move(watch)),
      wake_(options.stop, Wake{watch_.get()}) {}

void Waiter::pause(std::optional<Time> due) {
  if (stopped()) {
    return;
  }
  Time until = options_.deadline.value_or(Time::max());
  if (due) {
    until = std::min(until, *due);
  }
  watch_->wait_until(until);
}

}  // namespace smd::detail::trial
