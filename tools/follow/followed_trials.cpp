// SPDX-License-Identifier: Apache-2.0
#include "follow/followed_trials.hpp"

#include "operands/operands.hpp"

#include <boost/filesystem/operations.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <thread>

namespace smd::tool {

namespace {

using Clock = std::chrono::steady_clock;

/// The longest time between two ticks.
constexpr std::chrono::milliseconds longest_pause{1000};

/// What shows whether a snapshot may hold something new.
struct SnapshotExtent {
  std::size_t listed;
  std::size_t complete;
  bool ended;

  explicit SnapshotExtent(const Trial& trial)
      : listed(trial.listed_steps().size()), complete(trial.steps().size()), ended(trial.ended()) {}
  bool operator==(const SnapshotExtent&) const = default;
};

}  // namespace

FollowedTrials::FollowedTrials(const FollowingOptions& following, const ReadingOptions& reading, Diagnostics& messages)
    : following_(following),
      reading_(reading),
      messages_(messages),
      wait_(following.wait_options(interruption_.token())),
      stop_(following.request_stop(wait_)) {}

void FollowedTrials::visit(const std::vector<std::string>& operands, const StepRange& range, bool listed,
                           const std::function<void(std::size_t, Trial&)>& visit,
                           const std::function<void(std::size_t)>& unread) {
  side_by_side(operands.size(), interruption_, [&](std::size_t i) {
    const std::string& path = operands[i];
    const std::string_view hint = listed ? std::string_view() : hint_for(path, operands);
    const auto open = [&](const TrialOptions& options) {
      return open_awaited(path, options, following_, wait_, messages_, Level::warning, hint);
    };
    TrialOptions options = reading_.trial_options(range);
    following_.end_requests(options, path, wait_);
    bool visited = false;
    const auto work = [&](Trial& trial) {
      visited = true;
      visit(i, trial);
    };
    with_trial(path, options, messages_, work, hint, open);
    if (unread && !visited && !wait_.stop.stop_requested()) {
      unread(i);
    }
  });
}

void FollowedTrials::in_ticks(Trial& trial, const std::string& name, const std::function<bool(const FollowTick&)>& tick,
                              const std::function<void()>& give_up) {
  StepFollower follower(trial, {.wait = wait_});
  messages_.info(name + ": followed by " + follower.method());
  Clock::time_point quiet_since = Clock::now();
  SnapshotExtent known(trial);
  while (true) {
    // Taken first: once time is up, the follower accepts an end marker without another look, and must have the chance
    // to.
    const Clock::time_point now = Clock::now();
    FollowTick what;
    std::optional<FollowEvent> event;
    while ((event = follower.poll()) && event->kind == FollowEvent::Kind::step) {
      report_missing_files(trial, *event, messages_);
      messages_.say_missing();
      what.last = std::max(what.last, std::optional(event->step));
    }
    report_problems(trial, messages_);
    quiet_since = what.last ? Clock::now() : quiet_since;
    what.ended = event.has_value();
    const SnapshotExtent extent(trial);
    what.new_data = extent != known;
    known = extent;
    if (tick(what)) {
      return;
    }
    if (wait_.stop.stop_requested()) {
      return give_up();
    }
    const bool idle = following_.idle && now - quiet_since >= *following_.idle;
    if (idle || (wait_.deadline && now >= *wait_.deadline)) {
      report_time_up(name, idle, messages_);
      return give_up();
    }
    WaitOptions wait = wait_;
    wait.deadline = Clock::now() + longest_pause;
    if (wait_.deadline) {
      wait.deadline = std::min(*wait.deadline, *wait_.deadline);
    }
    if (following_.idle) {
      wait.deadline =
          std::min(*wait.deadline, quiet_since + std::chrono::duration_cast<Clock::duration>(*following_.idle));
    }
    trial.wait_until([&] { return SnapshotExtent(trial) != known; }, wait);
  }
}

void report_time_up(const std::string& trial, bool idle, Diagnostics& messages) {
  messages.fail("Timeout", trial + (idle ? ": no new step came" : ": the job has not ended"), ExitStatus::timed_out);
}

void report_problems(const Trial& trial, Diagnostics& messages) {
  for (const Problem& problem : trial.problems()) {
    if (problem.kind != ProblemKind::not_yet) {
      messages.report_once(problem, trial.path());
    }
  }
}

void report_missing_files(const Trial& trial, const FollowEvent& event, Diagnostics& messages) {
  for (const std::string& file : event.missing) {
    messages.report_given_up(trial.path(), file, "step " + std::to_string(event.step.value));
  }
}

namespace {

/// Whether nothing exists at the path yet, and a trial may appear there.
bool may_come(const std::string& path) {
  boost::system::error_code error;
  return is_remote_path(path) ||
         (!boost::filesystem::exists(path, error) && error != boost::system::errc::filename_too_long);
}

/// Nullopt if the trial does not exist yet; `missing` then says what is missing, and is empty if nothing will come.
std::optional<Trial> open_now(const std::string& path, const TrialOptions& options, std::string_view hint,
                              std::string& missing) {
  try {
    return Trial::open(path, options);
  } catch (const MissingCollectionFiles& error) {
    missing = error.ended ? "" : "has no data yet, waiting for it";
  } catch (const ReadError& error) {
    if (error.problem.kind != ProblemKind::not_found || !may_come(path)) {
      throw;
    }
    missing = "does not exist yet; waiting for it" + meant_instead(path, hint);
  }
  return std::nullopt;
}

}  // namespace

std::optional<Trial> open_awaited(const std::string& path, TrialOptions options, const FollowingOptions& following,
                                  const WaitOptions& wait, Diagnostics& messages, Level announced,
                                  std::string_view hint) {
  options.as_it_stands = false;
  const bool asks_once = following.timeout && following.timeout->count() == 0;
  std::string missing;
  if (!asks_once) {
    try {
      if (std::optional<Trial> trial = open_now(path, options, hint, missing)) {
        return trial;
      }
    } catch (const ReadError& error) {
      if (error.problem.kind != ProblemKind::stopped) {
        throw;
      }
      if (wait.stop.stop_requested() || interrupted()) {
        return std::nullopt;
      }
      const bool late = wait.deadline && std::chrono::steady_clock::now() >= *wait.deadline;
      const auto limit = late || !following.idle ? following.timeout : following.idle;
      messages.fail("Timeout",
                    path + ": no trial appeared within " + duration_text(limit.value_or(std::chrono::seconds(0))) +
                        (is_remote_path(path) ? "; the server had not answered" : "; it was still being read"),
                    ExitStatus::timed_out);
      return std::nullopt;
    }
    if (const std::string text = path + ": " + missing; !missing.empty()) {
      announced == Level::info ? messages.info(text) : messages.note(text);
    }
  }
  WaitOutcome outcome = WaitOutcome::timed_out;
  try {
    if (std::optional<Trial> trial = Trial::open_when_there(path, options, wait, &outcome)) {
      return trial;
    }
  } catch (const ReadError& error) {  // an earlier trial used up the time
    if (asks_once || error.problem.kind != ProblemKind::not_found || !may_come(path)) {
      throw;
    }
  }
  if (asks_once) {
    messages.fail("Timeout", path + ": there is no trial yet", ExitStatus::timed_out);
  } else if (outcome != WaitOutcome::stopped) {
    const auto limit = outcome == WaitOutcome::idle ? following.idle : following.timeout;
    messages.fail("Timeout", path + ": no trial appeared within " + duration_text(*limit), ExitStatus::timed_out);
  }
  return std::nullopt;
}

void side_by_side(std::size_t count, Interruption& interruption, const std::function<void(std::size_t)>& visit) {
  if (count == 1) {
    visit(0);
    return;
  }
  std::mutex mutex;
  std::exception_ptr failure;
  const auto fail = [&] {
    const std::lock_guard lock(mutex);
    failure = failure ? failure : std::current_exception();
    interruption.stop();
  };
  {
    std::vector<std::jthread> threads;
    threads.reserve(count);
    try {
      for (std::size_t i = 0; i < count; ++i) {
        threads.emplace_back([&, i] {
          try {
            visit(i);
          } catch (...) {
            fail();
          }
        });
      }
    } catch (...) {
      fail();
    }
  }
  if (failure) {
    std::rethrow_exception(failure);
  }
}

}  // namespace smd::tool
