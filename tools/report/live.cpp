// SPDX-License-Identifier: Apache-2.0
#include "live.hpp"

#include <smd/follow.hpp>

#include "follow/followed_trials.hpp"
#include "requests/evaluated_steps.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <utility>

namespace smd::tool::report {

namespace {

using Clock = std::chrono::steady_clock;

// The longest time between two ticks of the rules.
constexpr std::chrono::milliseconds longest_pause{1000};
constexpr std::chrono::milliseconds default_interval{2000};

// The page of all trials, written when something is new and the last time is long enough ago. Used under a lock.
class LivePage {
 public:
  LivePage(const std::vector<std::string>& operands, std::chrono::milliseconds interval, const WritePage& write)
      : interval_(interval), write_(write), ended_(operands.size()) {
    for (const std::string& operand : operands) {
      trials_.push_back({.name = operand, .unread = "not there yet"});
    }
  }

  [[nodiscard]] bool due() const { return !written_ || Clock::now() - *written_ >= interval_; }

  void put(std::size_t trial, TrialReport report, bool ended) {
    trials_[trial] = std::move(report);
    ended_[trial] = ended;
    if (ended || due()) {
      written_ = Clock::now();
      write_(trials_, !std::all_of(ended_.begin(), ended_.end(), [](bool one) { return one; }));
    }
  }

 private:
  std::chrono::milliseconds interval_;
  const WritePage& write_;
  std::vector<TrialReport> trials_;
  std::vector<bool> ended_;
  std::optional<Clock::time_point> written_;
};

class LiveExamination {
 public:
  LiveExamination(const ExaminationContext& context, Trial& trial, std::size_t operand, const std::string& name,
                  FollowedTrials& trials, LivePage& page)
      : context_(context),
        trial_(trial),
        operand_(operand),
        name_(name),
        wait_(trials.wait()),
        mutex_(trials.mutex()),
        page_(page) {
    const std::lock_guard lock(mutex_);
    EvaluationOptions options;
    options.follow = true;
    options.wait = wait_;
    choose_steps(options, context.options.selection, trial, context.messages);
    end_ = options.end;
    examination_.emplace(context, trial, name, std::move(options));
  }

  void run() {
    StepFollower follower(trial_, {.wait = wait_});
    context_.messages.info(name_ + ": followed by " + follower.method());
    Clock::time_point quiet_since = Clock::now();
    while (true) {
      const Clock::time_point now = Clock::now();
      std::optional<FollowEvent> event;
      std::optional<GlobalStep> last;
      while ((event = follower.poll()) && event->kind == FollowEvent::Kind::step) {
        report_missing_files(trial_, *event, context_.messages);
        last = std::max(last, std::optional(event->step));
      }
      report_problems(trial_, context_.messages);
      quiet_since = last ? Clock::now() : quiet_since;
      if (show(last, event.has_value())) {
        return;
      }
      const auto& following = context_.options.following;
      if (wait_.stop.stop_requested()) {
        return end();
      }
      const bool idle = following.idle && now - quiet_since >= *following.idle;
      if (idle || (wait_.deadline && now >= *wait_.deadline)) {
        context_.messages.fail("Timeout", name_ + (idle ? ": no new step came" : ": the job has not ended"),
                               ExitStatus::timed_out);
        return end();
      }
      pause(quiet_since);
    }
  }

 private:
  // Evaluates what is new, and writes the page. Returns whether following the trial is over.
  bool show(std::optional<GlobalStep> last, bool job_over) {
    const std::lock_guard lock(mutex_);
    Evaluator& evaluator = examination_->evaluator();
    if (last) {
      evaluator.offer(last);
    }
    if (job_over) {
      evaluator.offer();
      evaluator.finish();
    } else if (end_ && last && last->value >= end_->value - 1) {
      evaluator.finish(false);
      job_over = true;
    } else {
      evaluator.tick(std::chrono::duration<double>(Clock::now().time_since_epoch()).count(), last.has_value());
    }
    changed_ = changed_ || last || job_over || !shown_;
    if (job_over || (changed_ && page_.due())) {
      page_.put(operand_, examination_->report(job_over), job_over);
      changed_ = false;
      shown_ = true;
    }
    return job_over;
  }

  void end() {
    const std::lock_guard lock(mutex_);
    examination_->evaluator().finish(false);
    page_.put(operand_, examination_->report(true), true);
  }

  void pause(Clock::time_point quiet_since) {
    WaitOptions wait = wait_;
    wait.deadline = Clock::now() + longest_pause;
    if (wait_.deadline) {
      wait.deadline = std::min(*wait.deadline, *wait_.deadline);
    }
    if (const auto& idle = context_.options.following.idle) {
      wait.deadline = std::min(*wait.deadline, quiet_since + std::chrono::duration_cast<Clock::duration>(*idle));
    }
    const std::size_t listed = trial_.listed_steps().size();
    const std::size_t complete = trial_.steps().size();
    const bool ended = trial_.ended();
    trial_.wait_until(
        [&] {
          return trial_.listed_steps().size() != listed || trial_.steps().size() != complete || trial_.ended() != ended;
        },
        wait);
  }

  const ExaminationContext& context_;
  Trial& trial_;
  std::size_t operand_;
  const std::string& name_;
  const WaitOptions& wait_;
  std::mutex& mutex_;
  LivePage& page_;
  std::optional<GlobalStep> end_;
  std::optional<Examination> examination_;
  bool changed_ = false;  // since the page was written
  bool shown_ = false;
};

}  // namespace

void examine_live(const ExaminationContext& context, const std::vector<std::string>& operands, const WritePage& write) {
  const FollowingOptions& following = context.options.following;
  FollowedTrials trials(following, context.options.reading, context.messages);
  context.others.end_requests_by([&](RemoteOptions& remote) { following.end_requests(remote, trials.wait()); });
  LivePage page(operands, following.interval.value_or(default_interval), write);
  trials.visit(
      operands, {}, true,
      [&](std::size_t i, Trial& trial) { LiveExamination(context, trial, i, operands[i], trials, page).run(); },
      [&](std::size_t i) {
        const std::lock_guard lock(trials.mutex());
        page.put(i, {.name = operands[i], .unread = Diagnostics::last_failure()}, true);
      });
}

}  // namespace smd::tool::report
