// SPDX-License-Identifier: Apache-2.0
#include "examination.hpp"

#include "follow/followed_trials.hpp"
#include "requests/evaluation.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <utility>

namespace smd::tool::report {

namespace {

using Clock = std::chrono::steady_clock;

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
      : trial_(trial), operand_(operand), name_(name), trials_(trials), page_(page) {
    const std::lock_guard lock(trials_.mutex());
    EvaluationOptions options;
    options.follow = true;
    options.wait = trials.wait();
    choose_steps(options, context.options.selection, trial, context.messages);
    end_ = options.end;
    examination_.emplace(context, trial, name, std::move(options));
  }

  void run() {
    trials_.in_ticks(
        trial_, name_, [this](const FollowTick& what) { return show(what); }, [this] { end(); });
  }

 private:
  // Evaluates what is new, and writes the page. Returns whether following the trial is over.
  bool show(const FollowTick& what) {
    const std::lock_guard lock(trials_.mutex());
    Evaluator& evaluator = examination_->evaluator();
    bool job_over = what.ended;
    if (what.last) {
      evaluator.offer(what.last);
    }
    if (job_over) {
      evaluator.offer();
      evaluator.finish();
    } else if (end_ && what.last && what.last->value >= end_->value - 1) {
      evaluator.finish(false);
      job_over = true;
    } else {
      evaluator.tick(std::chrono::duration<double>(Clock::now().time_since_epoch()).count(), what.new_data);
    }
    changed_ = changed_ || what.last || job_over || !shown_;
    if (job_over || (changed_ && page_.due())) {
      page_.put(operand_, examination_->report(job_over), job_over);
      changed_ = false;
      shown_ = true;
    }
    return job_over;
  }

  void end() {
    const std::lock_guard lock(trials_.mutex());
    examination_->evaluator().finish(false);
    page_.put(operand_, examination_->report(true), true);
  }

  Trial& trial_;
  std::size_t operand_;
  const std::string& name_;
  FollowedTrials& trials_;
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
  context.others.end_requests_by(
      [&](TrialOptions& options, const std::string& path) { following.end_requests(options, path, trials.wait()); });
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
