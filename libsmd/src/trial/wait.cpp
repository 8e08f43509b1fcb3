// SPDX-License-Identifier: Apache-2.0
#include "trial/waiter.hpp"

#include "storage/local_watch.hpp"
#include "trial/trial_state.hpp"

#include <smd/error.hpp>
#include <smd/refresh.hpp>
#include <smd/trial.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

namespace smd::detail::trial {

std::unique_ptr<storage::Watch> watch_of(storage::Storage& storage, std::chrono::milliseconds interval,
                                         const storage::WatchScope& scope) {
  if (std::unique_ptr<storage::Watch> watch = storage.watch(interval, scope)) {
    return watch;
  }
  return std::make_unique<storage::PolledWatch>(interval);
}

Waiter::Waiter(TrialState& state, const WaitOptions& options, Watching watching)
    : clock_(state.clock()),
      options_(options),
      interval_(std::max(options.interval.value_or(state.storage().default_interval()), std::chrono::milliseconds(1))),
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

namespace smd {

// Waits for steps, for a condition, and for a trial to be made.

using detail::trial::HoldStill;
using detail::trial::Snapshot;
using detail::trial::Waiter;
using detail::trial::watch_of;

namespace {

/// Calls `done(snapshot)` after each look until it returns true. Whenever further steps count as complete, looks again
/// at once: a listing made while files are renamed into a folder may show a later file and miss an earlier one, so that
/// the earlier step appears to be skipped.
template <class Done>
WaitOutcome wait(detail::trial::TrialState& state, const WaitOptions& options, Done&& done) {
  Waiter waiter(state, options, detail::trial::Watching::from_the_first_pause);
  std::optional<std::int64_t> passed;
  while (true) {
    const std::shared_ptr<const Snapshot> snapshot = waiter.look(state);
    if (!snapshot) {
      return waiter.over().value_or(WaitOutcome::stopped);
    }
    if (done(*snapshot)) {
      return WaitOutcome::reached;
    }
    if (std::exchange(passed, snapshot->passed) != snapshot->passed) {
      waiter.saw_step();
      if (!snapshot->settled) {
        continue;
      }
    }
    if (snapshot->settled) {
      return WaitOutcome::ended;
    }
    if (const std::optional<WaitOutcome> over = waiter.over()) {
      return *over;
    }
    state.require_readable(*snapshot);
    waiter.pause(snapshot->due);
  }
}

}  // namespace

WaitOutcome Trial::wait_for_steps(std::span<const StepKey> steps, const WaitOptions& options) const {
  using detail::trial::unavailable_tag;
  std::vector<int> doubts(steps.size(), 0);
  const WaitOutcome outcome = wait(*impl_, options, [&](const Snapshot& snapshot) {
    bool all = true;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const std::string_view tag = unavailable_tag(snapshot, steps[i], snapshot.settled);
      // A step never comes only if it is skipped at two looks.
      const bool never = !tag.empty() && tag != "StepNotYetAvailable" && (snapshot.settled || ++doubts[i] == 2);
      if (never) {
        detail::trial::throw_unavailable(steps[i], tag);
      }
      all = all && tag.empty();
    }
    return all;
  });
  const std::shared_ptr<const Snapshot> last = impl_->current();
  if ((outcome == WaitOutcome::timed_out || outcome == WaitOutcome::idle) && last->ended) {
    // The job has ended, though there was no time to see that nothing more appears.
    for (const StepKey step : steps) {
      if (const std::string_view tag = unavailable_tag(*last, step, true); !tag.empty()) {
        detail::trial::throw_unavailable(step, tag);
      }
    }
    return WaitOutcome::reached;
  }
  return outcome;
}

WaitOutcome Trial::wait_until(const std::function<bool()>& condition, const WaitOptions& options) const {
  return wait(*impl_, options, [&](const Snapshot&) {
    const HoldStill still(*impl_);
    return condition();
  });
}

std::string Trial::watch_method() const {
  return watch_of(impl_->storage(), impl_->storage().default_interval(), impl_->layout().watched())->method();
}

namespace {

/// Wakes when a trial may have been made: its folder, or the files that it must hold.
struct BirthWatch {
  std::unique_ptr<detail::storage::Storage> storage;  // outlives the waiter's watch of it
  std::optional<Waiter> waiter;
  bool of_folder = false;

  void aim(const std::string& path, bool folder_there, const WaitOptions& options) {
    const bool remote = is_remote_path(path);
    const auto interval = options.interval.value_or(std::chrono::seconds(remote ? 5 : 2));
    waiter.reset();
    storage.reset();
    if (folder_there && !remote) {
      if (auto folder = detail::storage::open_local(path)) {
        storage = *std::move(folder);
      }
    }
    std::unique_ptr<detail::storage::Watch> watch =
        storage ? watch_of(*storage, interval, {.folders = {""}}) : detail::storage::watch_for_path(path, interval);
    waiter.emplace(detail::system_clock(), std::move(watch), options, remote);
    of_folder = folder_there;
  }
};

// Returns whether the path can never become a folder by waiting: it is something else, or its name is too long.
bool is_no_folder(const std::string& path) {
  std::error_code unknown;
  const std::filesystem::file_status status = std::filesystem::status(path, unknown);
  return !is_remote_path(path) && (unknown == std::errc::filename_too_long ||
                                   (std::filesystem::exists(status) && !std::filesystem::is_directory(status)));
}

}  // namespace

std::optional<Trial> Trial::open_when_there(const std::string& path, const TrialOptions& options,
                                            const WaitOptions& wait, WaitOutcome* outcome) {
  const auto ends = [&](WaitOutcome how) {
    if (outcome != nullptr) {
      *outcome = how;
    }
  };
  // Without a trial there are no steps, so `idle` is a deadline.
  const detail::Clock& clock = detail::system_clock();
  WaitOptions until = wait;
  until.idle.reset();
  const auto idle_end = wait.idle ? std::optional(clock.now() + *wait.idle) : std::nullopt;
  const bool idle_first = idle_end && (!wait.deadline || *idle_end < *wait.deadline);
  if (idle_first) {
    until.deadline = idle_end;
  }
  const WaitOutcome time_up = idle_first ? WaitOutcome::idle : WaitOutcome::timed_out;
  const auto passed = [&] { return until.deadline && clock.now() >= *until.deadline; };
  BirthWatch birth;
  bool over = false;
  for (bool waited = false;; waited = true) {
    const bool last_try = passed();
    bool folder_there = true;
    try {
      Trial trial = open(path, options);
      ends(WaitOutcome::reached);
      return trial;
    } catch (const MissingCollectionFiles& error) {
      if (error.ended && std::exchange(over, true)) {
        throw;
      }
      if (error.ended) {
        continue;  // they may have been written, and the job ended, after the check: try once more
      }
    } catch (const ReadError& error) {
      if (error.problem.kind == ProblemKind::stopped && (wait.stop.stop_requested() || passed())) {
        ends(wait.stop.stop_requested() ? WaitOutcome::stopped : time_up);
        return std::nullopt;
      }
      if (error.problem.kind != ProblemKind::not_found || (last_try && !waited) || is_no_folder(path)) {
        throw;
      }
      folder_there = false;
    }
    if (wait.stop.stop_requested() || last_try) {
      ends(last_try ? time_up : WaitOutcome::stopped);
      return std::nullopt;
    }
    if (!birth.waiter || birth.of_folder != folder_there) {
      birth.aim(path, folder_there, until);  // and try again: the trial may have been made before the watch
    } else {
      birth.waiter->pause(std::nullopt);
    }
  }
}

RefreshGuard::RefreshGuard(bool refresh, std::span<const Trial* const> trials) {
  before_.reserve(trials.size());
  for (const Trial* const trial : trials) {
    before_.emplace_back(trial->impl_, trial->impl_->auto_refresh().exchange(refresh));
  }
}

RefreshGuard::~RefreshGuard() {
  for (auto it = before_.rbegin(); it != before_.rend(); ++it) {
    it->first->auto_refresh().store(it->second);
  }
}

}  // namespace smd
