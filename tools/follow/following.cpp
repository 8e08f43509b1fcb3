// SPDX-License-Identifier: Apache-2.0
#include "follow/following.hpp"

#include "cli/text.hpp"
#include "follow/followed_steps.hpp"
#include "follow/followed_trials.hpp"

#include <algorithm>
#include <mutex>
#include <smd/follow.hpp>
#include <utility>

namespace smd::tool {

namespace {

using Kind = FollowEvent::Kind;

/// Reports a probable typo early, not only when the job is over.
void note_not_seen(const Trial& trial, const SelectionOptions& options, Diagnostics& messages) {
  for (const std::string& name : options.names) {
    if (!trial.has_tensor(name)) {
      messages.note(trial.name() + ": " + single_quoted(name) + " was not saved so far" +
                    did_you_mean(nearest_names(name, trial.tensor_names())));
    }
  }
  for (const std::string& regex : options.regexes) {
    if (trial.tensor_names({.regex = {regex}}).empty()) {
      messages.note(trial.name() + ": no tensor like " + single_quoted(regex) + " was saved so far");
    }
  }
  for (const std::string& name : options.collections) {
    if (!trial.collection(name)) {
      messages.note(trial.name() + ": there is no collection " + single_quoted(name) + " so far");
    }
  }
}

/// Reports when a job went back, so that values shown before no longer count. A trial whose files mark steps has no
/// such restarts.
class Restarts {
 public:
  explicit Restarts(const Trial& trial) : trial_(trial), superseded_(count()) {}

  void note(const FollowEvent& event, Diagnostics& messages) {
    const std::uint64_t before = std::exchange(superseded_, trial_.layout().marks_steps ? 0 : count());
    if (superseded_ > before) {
      messages.note(trial_.name() + " went back to step " + std::to_string(event.step.value) + ": " +
                    counted(superseded_ - before, "value") + " superseded");
    }
  }

 private:
  [[nodiscard]] std::uint64_t count() const {
    std::uint64_t all = 0;
    for (const auto& [tensor, count] : trial_.superseded()) {
      all += count;
    }
    return all;
  }

  const Trial& trial_;
  std::uint64_t superseded_;
};

class Following {
 public:
  Following(const FollowSetup& setup, FollowedTrials& trials, Diagnostics& messages, const FollowVisit& visit)
      : setup_(setup), trials_(trials), messages_(messages), visit_(visit) {}

  void run(const std::vector<std::string>& operands) {
    trials_.visit(operands, range(), setup_.listed, [&](std::size_t i, Trial& trial) { follow(i, trial); });
  }

  [[nodiscard]] bool visited() const noexcept { return visited_; }

 private:
  // The steps to read. Terms that count from an end need all steps, and only a later step shows that one was skipped.
  [[nodiscard]] StepRange range() const {
    const StepSpec& spec = setup_.selection.steps ? *setup_.selection.steps : setup_.needs.fallback;
    const std::vector<Mode>& modes = setup_.selection.modes;
    if (spec.all() || spec.need().kind != StepNeed::Kind::windows || modes != std::vector{Mode::global}) {
      return {};
    }
    const std::vector<StepNeed::Window> windows = spec.need().windows;
    const auto least = std::min_element(windows.begin(), windows.end(),
                                        [](const auto& a, const auto& b) { return a.first < b.first; });
    return least == windows.end() ? StepRange() : StepRange::between(GlobalStep(least->first), std::nullopt);
  }

  void follow(std::size_t operand, Trial& trial) {
    if (setup_.opened) {
      const std::lock_guard lock(trials_.mutex());
      setup_.opened(trial);
    }
    if (!check_modes(trial, setup_.selection.modes, messages_)) {
      return;
    }
    if (setup_.records) {
      note_superseded(trial, setup_.selection, setup_.needs.fallback, setup_.reading, messages_);
    }
    FollowedSteps steps(trial, setup_.selection, setup_.needs);
    Restarts restarts(trial);
    smd::FollowOptions options{.wait = trials_.wait(), .after = steps.after(), .records = setup_.records};
    StepFollower follower(trial, options);
    messages_.info(trial.name() + ": followed by " + follower.method());
    bool any = false;
    while (true) {
      const FollowEvent event = follower.next();
      const std::lock_guard lock(trials_.mutex());
      report_problems(trial, messages_);
      if (event.kind != Kind::step) {
        end(trial, event.kind, any, steps);
        return;
      }
      if (!std::exchange(any, true) && !trial.ended()) {
        note_not_seen(trial, setup_.selection, messages_);
      }
      if (event.late) {
        messages_.note(trial.name() + ": step " + std::to_string(event.step.value) +
                       " came late, after later steps were shown");
      }
      report_missing_files(trial, event, messages_);
      restarts.note(event, messages_);
      if (steps.choose(event)) {
        visited_ = true;
        Selection selection =
            select_at(trial, setup_.selection, setup_.needs, {event.step, event.mode, event.mode_step});
        selection.arrivals = event.arrivals;
        std::erase_if(selection.tensors, [&](const std::string& name) { return !steps.wants(name); });
        visit_(operand, trial, std::move(selection));
      }
      messages_.say_missing();
      if (steps.over()) {
        steps.report_missing(false, messages_);
        report_never_seen(trial, setup_.selection, messages_);
        return;
      }
    }
  }

  void end(Trial& trial, Kind how, bool any, const FollowedSteps& steps) {
    switch (how) {
      case Kind::step:
      case Kind::stopped:
        return;
      case Kind::ended:
        if (!any && trial.listed_steps().empty()) {
          report_no_step(trial, messages_);
          return;
        }
        steps.report_missing(true, messages_);
        report_never_seen(trial, setup_.selection, messages_);
        return;
      case Kind::timed_out:
        messages_.fail("Timeout", trial.name() + ": the job has not ended", ExitStatus::timed_out);
        return;
      case Kind::idle:
        messages_.fail("Timeout", trial.name() + ": no new step came", ExitStatus::timed_out);
        return;
    }
  }

  const FollowSetup& setup_;
  FollowedTrials& trials_;
  Diagnostics& messages_;
  const FollowVisit& visit_;
  bool visited_ = false;
};

}  // namespace

bool follow_trials(const std::vector<std::string>& operands, const FollowSetup& setup, Diagnostics& messages,
                   const FollowVisit& visit) {
  FollowedTrials trials(setup.following, setup.reading, messages);
  Following following(setup, trials, messages, visit);
  following.run(operands);
  if (!following.visited() && messages.status() == ExitStatus::yes && !trials.interrupted()) {
    for (const std::string& trial : operands) {
      say_no_step_selected(trial, messages);
    }
  }
  return following.visited();
}

void report_never_seen(Trial& trial, const SelectionOptions& options, Diagnostics& messages) {
  if (options.names.empty() && options.collections.empty() && !options.worker) {
    return;
  }
  SelectionOptions named;
  named.names = options.names;
  named.collections = options.collections;
  named.modes = {Mode::global};
  named.worker = options.worker;
  if (!named.names.empty() || !named.collections.empty()) {
    (void)select_tensors(trial, named, messages);
  }
  (void)check_worker(trial, named, messages);
}

}  // namespace smd::tool
