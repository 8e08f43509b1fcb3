// SPDX-License-Identifier: Apache-2.0
#include "follow/followed_trials.hpp"

#include "cli/mapped.hpp"
#include "operands/operands.hpp"

#include <boost/filesystem/operations.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <thread>
#include <tuple>
#include <utility>

namespace smd::tool {

namespace {

using Clock = std::chrono::steady_clock;

/// The longest time between two ticks.
constexpr std::chrono::milliseconds longest_pause{1000};

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
  // What shows whether a snapshot may hold something new.
  const auto extent = [&] { return std::tuple(trial.listed_steps().size(), trial.steps().size(), trial.ended()); };
  auto known = extent();
  Clock::time_point quiet_since = Clock::now();
  Clock::time_point begin_again = quiet_since;  // not before this
  std::uint64_t superseded = superseded_values(trial);
  std::optional<GlobalStep> told;  // the last step that a tick was told
  std::optional<GlobalStep> came;  // the last one that came since
  bool late = false;               // values came to steps that ticks were told, or superseded theirs
  while (true) {
    // Taken first: once time is up, the follower accepts an end marker without another look, and must have the chance
    // to.
    const Clock::time_point now = Clock::now();
    std::optional<FollowEvent> event;
    while ((event = follower.poll()) && event->outcome == WaitOutcome::reached) {
      report_missing_files(trial, *event, messages_);
      messages_.say_missing();
      came = std::max(came, std::optional(event->step));
      late = late || event->step <= told;
      quiet_since = Clock::now();
    }
    report_problems(trial, messages_);
    const std::uint64_t before = std::exchange(superseded, superseded_values(trial));
    late = late || superseded != before;
    const bool idle = following_.idle && now - quiet_since >= *following_.idle;
    const bool time_up = idle || (wait_.deadline && now >= *wait_.deadline);
    FollowTick what;
    what.ended = event.has_value();
    what.again = late && (what.ended || time_up || now >= begin_again);
    if (what.again) {
      const std::vector<GlobalStep> steps = trial.steps();  // without those that were superseded
      const auto after =
          std::ranges::upper_bound(steps, std::max(told, came), {}, [](GlobalStep one) { return std::optional(one); });
      told = what.last = after == steps.begin() ? std::nullopt : std::optional(after[-1]);
    } else if (!late) {
      what.last = came;
      told = std::max(told, came);
    }
    if (what.again || !late) {
      came.reset();
      late = false;
    }
    const auto latest = extent();
    what.new_data = std::exchange(known, latest) != latest;
    const Clock::time_point begun = Clock::now();
    if (tick(what)) {
      return;
    }
    if (what.again) {
      begin_again = Clock::now() + 10 * (Clock::now() - begun);
    }
    if (wait_.stop.stop_requested()) {
      return give_up();
    }
    if (time_up) {
      report_time_up(name, idle, messages_);
      return give_up();
    }
    WaitOptions wait = wait_;
    wait.deadline = std::min(Clock::now() + longest_pause, wait_.deadline.value_or(Clock::time_point::max()));
    if (following_.idle) {
      wait.deadline = std::min(*wait.deadline, quiet_since + *following_.idle);
    }
    trial.wait_until([&] { return extent() != known; }, wait);
  }
}

std::uint64_t superseded_values(const Trial& trial) {
  return sum_of(trial.superseded(), [](const auto& one) { return one.second; });
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

/// Whether a trial may appear at the path, because nothing exists there yet.
bool may_come(const std::string& path) {
  boost::system::error_code error;
  return is_remote_path(path) ||
         (!boost::filesystem::exists(path, error) && error != boost::system::errc::filename_too_long);
}

/// Nullopt if the trial does not exist yet; `missing` then says what is missing, and is empty if nothing will come.
std::optional<Trial> open_now(const std::string& path, const TrialOptions& options, std::string_view hint,
                              std::string& missing) {
  constexpr std::string_view no_data = "has no data yet, waiting for it";
  const bool early = may_come(path);  // asked before, for it may come meanwhile
  try {
    return Trial::open(path, options);
  } catch (const MissingCollectionFiles& error) {
    missing = error.ended ? "" : no_data;
  } catch (const ReadError& error) {
    if (error.problem.kind == ProblemKind::not_yet) {
      missing = no_data;
    } else if (error.problem.kind != ProblemKind::not_found || !(early || may_come(path))) {
      throw;
    } else {
      missing = "does not exist yet; waiting for it" + meant_instead(path, hint);
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Trial> open_awaited(const std::string& path, TrialOptions options, const FollowingOptions& following,
                                  const WaitOptions& wait, Diagnostics& messages, Level announced,
                                  std::string_view hint) {
  options.as_it_stands = false;
  const bool asks_once = following.timeout && following.timeout->count() == 0;
  const auto fail = [&](const char* why) {
    const bool late = wait.deadline && Clock::now() >= *wait.deadline;
    const auto limit = late || !following.idle ? following.timeout : following.idle;
    const std::string time = duration_text(limit.value_or(std::chrono::seconds(0)));
    messages.fail("Timeout", path + ": no trial appeared within " + time + why, ExitStatus::timed_out);
  };
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
      if (!wait.stop.stop_requested() && !interrupted()) {
        fail(is_remote_path(path) ? "; the server had not answered" : "; it was still being read");
      }
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
  } catch (const ReadError& error) {
    if (error.problem.kind != ProblemKind::not_found || missing.empty() || !may_come(path)) {
      throw;
    }  // else an earlier trial used up the time
  }
  if (asks_once) {
    messages.fail("Timeout", path + ": there is no trial yet", ExitStatus::timed_out);
  } else if (outcome != WaitOutcome::stopped) {
    fail("");
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
