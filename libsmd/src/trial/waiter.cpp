// SPDX-License-Identifier: Apache-2.0
#include "trial/waiter.hpp"

#include "storage/inotify_tree.hpp"

#include <smd/error.hpp>

#include <algorithm>
#include <utility>

namespace smd::detail::trial {

std::chrono::milliseconds interval_of(const WaitOptions& options, const storage::Storage& storage) {
  return std::max(options.interval.value_or(storage.default_interval()), std::chrono::milliseconds(1));
}

std::unique_ptr<storage::Watch> watch_of(storage::Storage& storage, std::chrono::milliseconds interval,
                                         const storage::WatchScope& scope) {
  if (std::unique_ptr<storage::Watch> watch = storage.watch(interval, scope)) {
    return watch;
  }
  return std::make_unique<storage::PolledWatch>(interval, "polling");
}

Waiter::Waiter(TrialState& state, const WaitOptions& options, Watching watching)
    : clock_(state.clock()),
      options_(options),
      interval_(interval_of(options, state.storage())),
      quiet_since_(clock_.now()),
      state_(&state) {
  if (watching == Watching::from_the_start) {
    watch(watch_of(state.storage(), interval_, state.layout().watched()));
  }
  plan_looks(state.storage().remote());
}

Waiter::Waiter(const Clock& clock, std::unique_ptr<storage::Watch> watch, const WaitOptions& options, bool remote)
    : clock_(clock),
      options_(options),
      interval_(options.interval.value_or(std::chrono::seconds(2))),
      quiet_since_(clock_.now()) {
  this->watch(std::move(watch));
  plan_looks(remote);
}

void Waiter::watch(std::unique_ptr<storage::Watch> watch) {
  watch_ = std::move(watch);
  wake_.emplace(options_.stop, Wake{watch_.get()});
}

void Waiter::plan_looks(bool remote) {
  constexpr std::chrono::seconds time_for_answer{1};
  const Time now = clock_.now();
  if (!options_.deadline || *options_.deadline <= now) {
    return;
  }
  end_ = options_.deadline;
  if (remote) {
    last_look_ = *end_ - std::min<Time::duration>(time_for_answer, (*end_ - now) / 4);
  }
}

std::optional<WaitOutcome> Waiter::over() const noexcept {
  if (stopped()) {
    return WaitOutcome::stopped;
  }
  if (passed()) {
    return WaitOutcome::timed_out;
  }
  return idle() ? std::optional(WaitOutcome::idle) : std::nullopt;
}

std::shared_ptr<const Snapshot> Waiter::look(TrialState& state) const {
  try {
    std::optional<Time> end = end_;
    if (options_.idle && options_.idle->count() > 0) {
      const Time idle_end = clock_.now() + *options_.idle;
      end = std::min(end.value_or(idle_end), idle_end);
    }
    return state.look_until(options_.stop, end);
  } catch (const ReadError& error) {
    if (error.problem.kind != ProblemKind::stopped || !over()) {
      throw;
    }
    return nullptr;
  }
}

void Waiter::pause(std::optional<Time> due) {
  if (stopped()) {
    return;
  }
  if (!watch_) {
    watch(watch_of(state_->storage(), interval_, state_->layout().watched()));
    return;
  }
  Time until = options_.deadline.value_or(Time::max());
  if (due) {
    until = std::min(until, *due);
  }
  if (last_look_ && clock_.now() < *last_look_) {
    until = std::min(until, *last_look_);
  }
  if (options_.idle) {
    until = std::min(until, quiet_since_ + *options_.idle);
  }
  watch_->wait_until(until);
}

}  // namespace smd::detail::trial
