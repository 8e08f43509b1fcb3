// SPDX-License-Identifier: Apache-2.0
#include "follow/followed_trials.hpp"

#include "cli/mapped.hpp"
#include "cli/text.hpp"
#include "operands/operands.hpp"
#include "select/trial_times.hpp"

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
/// How long a trial is held back by another one before a note says so.
constexpr std::chrono::seconds quiet_hold{10};
/// A trial to which nothing was written for so long holds back no steps of another one.
constexpr std::chrono::minutes at_rest{10};

/// What shows whether a snapshot may hold something new.
using Extent = std::tuple<std::size_t, std::size_t, bool>;

Extent extent_of(const Trial& trial) { return {trial.listed_steps().size(), trial.steps().size(), trial.ended()}; }

/// A trial whose steps ticks wait for: the one that is visited, or one that it is compared with.
struct Awaited {
  const Trial* trial;
  StepFollower follower;
  Clock::time_point newest = {};  // when its last steps came, or its newest file was written
  Extent extent = extent_of(*trial);
  std::uint64_t superseded = superseded_values(*trial);
  std::optional<GlobalStep> last = {};  // the last step that came
  bool ended = false;                   // the job is over, and all of its steps came
};

std::vector<GlobalStep>::const_iterator first_after(const std::vector<GlobalStep>& steps,
                                                    const std::optional<GlobalStep>& step) {
  return std::ranges::upper_bound(steps, step, {}, [](GlobalStep one) { return std::optional(one); });
}

/// `other has come to step 3`.
std::string how_far(const Awaited& other) {
  return other.trial->name() +
         (other.last ? " has come to step " + std::to_string(other.last->value) : std::string(" has no step yet"));
}

}  // namespace

FollowedTrials::FollowedTrials(const FollowingOptions& following, const ReadingOptions& reading, Diagnostics& messages)
    : following_(following),
      reading_(reading),
      messages_(messages),
      interruption_(following.reader),
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

void FollowedTrials::in_ticks(Trial& trial, const std::string& name, const std::deque<Trial>& others,
                              const std::function<bool(const FollowTick&)>& tick,
                              const std::function<void()>& give_up) {
  Awaited base = {&trial, StepFollower(trial, {.wait = wait_})};
  std::vector<Awaited> compared;
  {
    const std::lock_guard lock(mutex_);  // all visits share the other trials
    for (const Trial& other : others) {
      const auto files = file_totals(other);
      const std::chrono::seconds age(files ? age_of(*files) : 0);
      compared.push_back({&other, StepFollower(other, {.wait = wait_}), Clock::now() - age});
    }
  }
  messages_.info(name + ": followed by " + base.follower.method());
  Clock::time_point quiet_since = Clock::now();
  Clock::time_point begin_again = quiet_since;  // not before this
  std::optional<Clock::time_point> held_since;
  bool hold_noted = false;
  std::optional<GlobalStep> given;  // ticks got the steps up to here
  bool late = false;                // values came to steps that ticks got, or superseded theirs
  bool news = false;                // something came to the visited trial, also to a step that was there
  const auto look = [&](Awaited& one) {
    std::optional<FollowEvent> event;
    while ((event = one.follower.poll()) && event->outcome == WaitOutcome::reached) {
      report_missing_files(*one.trial, *event, messages_);
      messages_.say_missing();
      late = late || event->step <= given;
      news = news || &one == &base;
      if (&one == &base || one.last < base.last) {  // what is ahead does not count as news
        quiet_since = Clock::now();
      }
      one.last = std::max(one.last, std::optional(event->step));
    }
    one.ended = event.has_value();
    const std::uint64_t before = std::exchange(one.superseded, superseded_values(*one.trial));
    late = late || one.superseded != before;
  };
  while (true) {
    // Taken first: once time is up, the follower accepts an end marker without another look, and must have the chance
    // to.
    const Clock::time_point now = Clock::now();
    look(base);
    report_problems(trial, messages_);
    std::optional<GlobalStep> ready = base.last;
    const Awaited* behind = nullptr;  // of the trials that are compared and may go on, the one that has come least far
    {
      const std::lock_guard lock(mutex_);
      for (Awaited& other : compared) {
        look(other);
        const Extent before = std::exchange(other.extent, extent_of(*other.trial));
        other.newest = before == other.extent ? other.newest : now;
        const bool rests = now - other.newest >= at_rest;
        // Nothing marks the end of a log.
        if (other.ended || other.last >= base.last || (rests && !other.trial->layout().marks_steps)) {
          continue;
        }
        behind = behind == nullptr || other.last < behind->last ? &other : behind;
        ready = rests ? ready : std::min(ready, other.last);
      }
    }
    const Awaited& awaited = behind != nullptr && base.ended ? *behind : base;
    const bool idle = following_.idle && now - quiet_since >= *following_.idle;
    const bool time_up = idle || (wait_.deadline && now >= *wait_.deadline);
    FollowTick what;
    what.ended = base.ended && behind == nullptr;
    what.again = late && (what.ended || time_up || now >= begin_again);
    if (what.again) {
      const std::vector<GlobalStep> steps = trial.steps();  // without those that were superseded
      const auto after = first_after(steps, base.last);
      base.last = after == steps.begin() ? std::nullopt : std::optional(after[-1]);
      given = what.last = std::min(base.last, ready);
      late = false;
    } else if (!late && ready > given) {
      given = what.last = ready;
    }
    const Extent latest = extent_of(trial);
    what.new_data = std::exchange(base.extent, latest) != latest || std::exchange(news, false) || base.ended;
    const Clock::time_point begun = Clock::now();
    if (tick(what)) {
      return;
    }
    if (what.again) {
      begin_again = Clock::now() + 10 * (Clock::now() - begun);
    }
    const bool stopped = wait_.stop.stop_requested();
    if (time_up && !stopped) {
      report_time_up(&awaited == &base ? name : awaited.trial->name(), idle, messages_);
    }
    if (time_up || stopped) {
      const std::vector<GlobalStep> steps = trial.steps();
      const auto rest = first_after(steps, behind == nullptr ? base.last : behind->last);
      if (behind != nullptr && rest != steps.end()) {
        messages_.warning(name + (ready < base.last ? ": not evaluated: " : ": not compared: ") +
                          counted(static_cast<std::size_t>(steps.end() - rest), "step") + " from step " +
                          std::to_string(rest->value) + " on; " + how_far(*behind));
      }
      return give_up();
    }
    held_since = ready < base.last ? std::optional(held_since.value_or(now)) : std::nullopt;
    if (behind != nullptr && !hold_noted && (base.ended || (held_since && now - *held_since >= quiet_hold))) {
      hold_noted = true;
      messages_.note(name + ": waits for the other trial: " + how_far(*behind));
    }
    WaitOptions wait = wait_;
    wait.deadline = std::min(Clock::now() + longest_pause, wait_.deadline.value_or(Clock::time_point::max()));
    if (following_.idle) {
      wait.deadline = std::min(*wait.deadline, quiet_since + *following_.idle);
    }
    awaited.trial->wait_until([&] { return extent_of(*awaited.trial) != awaited.extent; }, wait);
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
