// SPDX-License-Identifier: Apache-2.0
#include "follow/followed_trials.hpp"

#include "cli/mapped.hpp"
#include "cli/text.hpp"
#include "operands/operands.hpp"
#include "select/trial_times.hpp"
#include "text/path.hpp"
#include "text/whole_steps.hpp"

#include <smd/snapshot.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <thread>
#include <tuple>

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
using Extent = std::tuple<std::size_t, std::optional<GlobalStep>, bool>;

Extent extent_of(const Trial& trial) {
  return {TrialSnapshot::last(trial).listed_files(), trial.last_complete_step(), trial.ended()};
}

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

/// `other has reached step 3`.
std::string how_far(const Awaited& other) {
  return other.trial->name() +
         (other.last ? " has reached step " + std::to_string(other.last->value) : std::string(" has no step yet"));
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
    } else if (error.problem.kind != ProblemKind::not_found || text::is_inside_trial(error.problem.file, path) ||
               !(early || may_come(path))) {
      throw;
    } else {
      missing = "does not exist yet; waiting for it" + meant_instead(path, hint);
    }
  }
  return std::nullopt;
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
    bool visited = false;
    const auto work = [&](Trial& trial) {
      visited = true;
      visit(i, trial);
    };
    with_trial(path, reading_.trial_options(range), messages_, work, hint,
               [&](const TrialOptions& options) { return open(path, options, hint); });
    if (unread && !visited && !wait_.stop.stop_requested()) {
      unread(i);
    }
  });
}

std::optional<Trial> FollowedTrials::open(const std::string& path, TrialOptions options, std::string_view hint) {
  following_.end_requests(options, path, wait_);
  return open_awaited(path, std::move(options), following_, wait_, messages_, Level::warning, hint);
}

/// A visit in ticks: of a trial, and of those that it is compared with.
class FollowedTrials::Ticks {
 public:
  Ticks(FollowedTrials& all, Trial& trial, const std::string& name, const std::deque<Trial>& others)
      : all_(all), name_(name), base_{&trial, StepFollower(trial, {.wait = all.wait_})} {
    const std::lock_guard lock(all_.mutex_);  // all visits share the other trials
    for (const Trial& other : others) {
      const auto files = file_totals(other);
      const std::chrono::seconds age(files ? age_of(*files) : 0);
      others_.push_back({&other, StepFollower(other, {.wait = all_.wait_}), Clock::now() - age});
    }
  }

  /// As `FollowedTrials::in_ticks`.
  void run(const std::function<bool(const FollowTick&)>& tick, const std::function<void()>& give_up) {
    all_.messages_.info(name_ + ": followed by " + base_.follower.method());
    while (true) {
      // Taken first: once time is up, the follower accepts an end marker without another look, and must have the chance
      // to.
      const Clock::time_point now = Clock::now();
      look(base_);
      look_at_others(now);
      report_problems(*base_.trial, base_.ended || time_up(now) || all_.wait_.stop.stop_requested(), all_.messages_);
      const FollowTick what = next(now);
      const Clock::time_point begun = Clock::now();
      if (tick(what)) {
        return report_problems(*base_.trial, true, all_.messages_);
      }
      if (what.again) {
        begin_again_ = Clock::now() + 10 * (Clock::now() - begun);
      }
      const bool stopped = all_.wait_.stop.stop_requested();
      if (time_up(now) && !stopped) {
        report_time_up(&awaited() == &base_ ? name_ : awaited().trial->name(), idle(now), all_.messages_);
      }
      if (time_up(now) || stopped) {
        report_not_compared();
        return give_up();
      }
      note_hold(now);
      pause();
    }
  }

 private:
  void look(Awaited& one) {
    std::optional<FollowEvent> event;
    while ((event = one.follower.poll()) && event->outcome == WaitOutcome::reached) {
      report_missing_files(*one.trial, *event, all_.messages_);
      all_.messages_.say_missing();
      const bool of_base = &one == &base_;
      late_ = late_ || event->step <= (of_base ? given_.last : given_.compared);
      news_ = news_ || of_base;
      if (!event->kept_back && (of_base || one.last < base_.last)) {  // what is ahead does not count as news
        quiet_since_ = Clock::now();
      }
      one.last = std::max(one.last, std::optional(event->step));
      whole_.came(event->step, Clock::now());
    }
    one.ended = event.has_value();
    const std::uint64_t before = std::exchange(one.superseded, superseded_values(*one.trial));
    late_ = late_ || one.superseded != before;
  }

  void look_at_others(Clock::time_point now) {
    ready_ = base_.last;
    behind_ = nullptr;
    const std::lock_guard lock(all_.mutex_);
    for (Awaited& other : others_) {
      look(other);
      const Extent before = std::exchange(other.extent, extent_of(*other.trial));
      other.newest = before == other.extent ? other.newest : now;
      const bool rests = now - other.newest >= at_rest;
      // Nothing marks the end of a log.
      if (other.ended || other.last >= base_.last || (rests && !other.trial->layout().marks_steps)) {
        continue;
      }
      behind_ = behind_ == nullptr || other.last < behind_->last ? &other : behind_;
      ready_ = rests ? ready_ : std::min(ready_, other.last);
    }
  }

  FollowTick next(Clock::time_point now) {
    FollowTick what;
    what.ended = base_.ended && behind_ == nullptr;
    what.again = late_ && (what.ended || time_up(now) || now >= begin_again_);
    if (what.again) {
      const std::vector<GlobalStep> steps = base_.trial->steps();  // without those that were superseded
      const auto after = first_after(steps, base_.last);
      base_.last = after == steps.begin() ? std::nullopt : std::optional(after[-1]);
      ready_ = std::min(base_.last, ready_);
      late_ = false;
    }
    if (what.again || (!late_ && (base_.last > given_.last || ready_ > given_.compared))) {
      what.last = given_.last = base_.last;
      what.compared = given_.compared = ready_;
    }
    if (!base_.trial->layout().marks_steps && (late_ || !idle(now))) {
      what.whole = (late_ ? std::nullopt : whole_.end(now)).value_or(GlobalStep(INT64_MIN));
    }
    const Extent latest = extent_of(*base_.trial);
    what.new_data = std::exchange(base_.extent, latest) != latest || std::exchange(news_, false) || base_.ended;
    return what;
  }

  [[nodiscard]] bool idle(Clock::time_point now) const {
    return all_.following_.idle && now - quiet_since_ >= *all_.following_.idle;
  }
  [[nodiscard]] bool time_up(Clock::time_point now) const {
    return idle(now) || (all_.wait_.deadline && now >= *all_.wait_.deadline);
  }
  [[nodiscard]] Awaited& awaited() { return behind_ != nullptr && base_.ended ? *behind_ : base_; }

  void report_not_compared() const {
    const std::vector<GlobalStep> steps = base_.trial->steps();
    const auto rest = first_after(steps, behind_ == nullptr ? base_.last : behind_->last);
    if (behind_ != nullptr && rest != steps.end()) {
      all_.messages_.warning(name_ +
                             ": not compared: " + counted(static_cast<std::size_t>(steps.end() - rest), "step") +
                             " from step " + std::to_string(rest->value) + " on; " + how_far(*behind_));
    }
  }

  void note_hold(Clock::time_point now) {
    held_since_ = ready_ < base_.last ? std::optional(held_since_.value_or(now)) : std::nullopt;
    if (behind_ != nullptr && !hold_noted_ && (base_.ended || (held_since_ && now - *held_since_ >= quiet_hold))) {
      hold_noted_ = true;
      all_.messages_.note_once(name_ + ": waiting for the other trial: " + how_far(*behind_));
    }
  }

  void pause() {
    WaitOptions wait = all_.wait_;
    wait.deadline = std::min(Clock::now() + longest_pause, all_.wait_.deadline.value_or(Clock::time_point::max()));
    if (all_.following_.idle) {
      wait.deadline = std::min(*wait.deadline, quiet_since_ + *all_.following_.idle);
    }
    const Awaited& one = awaited();
    one.trial->wait_until([&] { return extent_of(*one.trial) != one.extent; }, wait);
  }

  FollowedTrials& all_;
  const std::string& name_;
  Awaited base_;
  std::deque<Awaited> others_;
  std::optional<GlobalStep> ready_;  // up to here the others have come, or hold nothing back
  Awaited* behind_ = nullptr;        // of the others that may go on, the one that has come least far
  FollowTick given_;                 // the steps that ticks got
  detail::WholeSteps whole_;         // of all trials
  bool late_ = false;                // values came to steps that ticks got, or superseded theirs
  bool news_ = false;                // something came to the visited trial, also to a step that was there
  Clock::time_point quiet_since_ = Clock::now();
  Clock::time_point begin_again_ = quiet_since_;  // not before this
  std::optional<Clock::time_point> held_since_;
  bool hold_noted_ = false;
};

void FollowedTrials::in_ticks(Trial& trial, const std::string& name, const std::deque<Trial>& others,
                              const std::function<bool(const FollowTick&)>& tick,
                              const std::function<void()>& give_up) {
  Ticks(*this, trial, name, others).run(tick, give_up);
}

std::uint64_t superseded_values(const Trial& trial) {
  return sum_of(trial.superseded(), [](const auto& one) { return one.second; });
}

bool KnownPast::changed(const Trial& trial) {
  const TrialSnapshot now = TrialSnapshot::last(trial);
  const std::pair state(superseded_values(trial), now.generation());
  const bool came_late = now.num_steps_up_to(newest_) != known_;
  newest_ = trial.last_complete_step().value_or(newest_);
  known_ = now.num_steps_up_to(newest_);
  return std::exchange(state_, state) != state || came_late;
}

double StartTime::of(const Trial& trial, Diagnostics& messages) {
  started_ = past_.changed(trial) ? first_time(trial, messages) : started_;
  return started_;
}

void report_time_up(const std::string& trial, bool idle, Diagnostics& messages) {
  messages.fail("Timeout", trial + (idle ? ": no new step came" : ": the job has not ended"), ExitStatus::timed_out);
}

void report_problems(const Trial& trial, bool over, Diagnostics& messages) {
  for (const Problem& problem : trial.problems()) {
    if (problem.kind != ProblemKind::not_yet && (over || !problem.unfinished)) {
      messages.report_once(problem, trial.path());
    }
  }
}

void report_missing_files(const Trial& trial, const FollowEvent& event, Diagnostics& messages) {
  for (const std::string& file : event.missing) {
    messages.report_given_up(trial.path(), file, "step " + std::to_string(event.step.value));
  }
}

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
      if (announced == Level::info) {
        messages.info(text);
      } else {
        messages.note_once(text);
      }
    }
  }
  WaitOutcome outcome = WaitOutcome::timed_out;
  WaitOptions part = wait;
  const bool endless = !wait.deadline && !wait.idle;
  do {  // without a limit of time in parts, so that a note soon says why what is there is refused
    part.deadline = endless ? Clock::now() + std::chrono::seconds(5) : wait.deadline;
    try {
      if (std::optional<Trial> trial = Trial::open_when_there(path, options, part, &outcome)) {
        return trial;
      }
    } catch (const ReadError& error) {
      const bool not_found = error.problem.kind == ProblemKind::not_found;
      const bool of_file = text::is_inside_trial(error.problem.file, path);
      if (endless && not_found && of_file && Clock::now() >= *part.deadline) {
        messages.note_once(path + ": " + error.what() + "; waiting for another file");
      } else if (!not_found || of_file || missing.empty() || !may_come(path)) {
        throw;
      }  // else an earlier trial used up the time
    }
  } while (endless && outcome != WaitOutcome::stopped);
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
  const auto guarded = [&](const auto& call) {
    try {
      call();
    } catch (...) {
      const std::lock_guard lock(mutex);
      failure = failure ? failure : std::current_exception();
      interruption.stop();
    }
  };
  {
    std::vector<std::jthread> threads;
    guarded([&] {
      for (std::size_t i = 0; i < count; ++i) {
        threads.emplace_back([&, i] { guarded([&] { visit(i); }); });
      }
    });
  }
  if (failure) {
    std::rethrow_exception(failure);
  }
}

}  // namespace smd::tool
