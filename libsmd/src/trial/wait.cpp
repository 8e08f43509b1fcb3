// SPDX-License-Identifier: Apache-2.0
#include "trial/wait.hpp"

#include "storage/inotify_tree.hpp"
#include "trial/trial_impl.hpp"
#include "trial/waiter.hpp"

#include <smd/refresh.hpp>
#include <smd/trial.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

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
    const auto interval =
        std::max(options.interval.value_or(std::chrono::seconds(remote ? 5 : 2)), std::chrono::milliseconds(1));
    waiter.reset();
    storage.reset();
    if (folder_there && !remote) {
      if (auto folder = detail::storage::open_local(path)) {
        storage = *std::move(folder);
      }
    }
    std::unique_ptr<detail::storage::Watch> watch;
    if (remote) {
      watch = std::make_unique<detail::storage::PolledWatch>(interval, "polling");
    } else {
      watch =
          storage ? watch_of(*storage, interval, {.folders = {""}}) : detail::storage::watch_for_path(path, interval);
    }
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

namespace smd::detail::trial {

namespace {

std::optional<std::size_t> number_from_environment(const char* name) {
  const char* const text = std::getenv(name);
  if (text == nullptr) {
    return std::nullopt;
  }
  std::size_t number = 0;
  const char* const last = text + std::strlen(text);
  const auto [end, error] = std::from_chars(text, last, number);
  return error == std::errc{} && end == last ? std::optional(number) : std::nullopt;
}

/// Returns a number of seconds, which may have a fraction. Nullopt if the variable has no such value.
std::optional<std::chrono::nanoseconds> seconds_from_environment(const char* name) {
  const char* const text = std::getenv(name);
  if (text == nullptr) {
    return std::nullopt;
  }
  constexpr double most = 1e9;  // thirty years
  double number = 0;
  const char* const last = text + std::strlen(text);
  const auto [end, error] = std::from_chars(text, last, number);
  if (error != std::errc{} || end != last || !(number >= 0 && number <= most)) {
    return std::nullopt;
  }
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(number));
}

}  // namespace

WaitLimits WaitLimits::from_environment() {
  WaitLimits limits;
  limits.end_delay = seconds_from_environment("SMDEBUG_TRAINING_END_DELAY_REFRESH").value_or(limits.end_delay);
  limits.missing_event_file_retries =
      number_from_environment("SMDEBUG_MISSING_EVENT_FILE_RETRY_LIMIT").value_or(limits.missing_event_file_retries);
  limits.incomplete_steps =
      number_from_environment("SMDEBUG_INCOMPLETE_STEP_WAIT_WINDOW").value_or(limits.incomplete_steps);
  return limits;
}

}  // namespace smd::detail::trial
