// SPDX-License-Identifier: Apache-2.0
#include <smd/evaluator.hpp>

#include "framework/evaluated_trial.hpp"
#include "framework/rule_run.hpp"
#include "framework/window.hpp"
#include "text/mapped.hpp"

#include <smd/parallel.hpp>
#include <smd/trial.hpp>

#include <algorithm>
#include <chrono>
#include <deque>
#include <span>
#include <utility>

namespace smd {

RuleEvaluationConditionMet::~RuleEvaluationConditionMet() = default;  // once, as in error.cpp

using detail::rules::EvaluatedTrial;
using detail::rules::KeptValues;
using detail::rules::RecordRequest;
using detail::rules::ReductionSets;
using detail::rules::RuleRun;
using detail::rules::Window;

namespace {

using Clock = std::chrono::steady_clock;

/// Steps planned and read at once: few at first, so that little is read for a rule that triggers early, then
/// more, so that threads and files are used well.
constexpr std::size_t most_steps = 64;
constexpr std::size_t most_records = 8192;
constexpr std::uint64_t most_held_bytes = std::uint64_t{64} << 20;

/// Up to which step rules were or are to be evaluated; nullopt: of steps that were, none; of those to come, all.
struct Reached {
  std::optional<GlobalStep> alone = {};     ///< By rules that look at the base trial alone,
  std::optional<GlobalStep> compared = {};  ///< and by those that compare it with another one.
};

}  // namespace

/// Hidden, because it would otherwise be exported with its class.
struct __attribute__((visibility("hidden"))) Evaluator::Impl {
  Impl(const Trial& trial, EvaluationOptions in_options)
      : base(trial), options(std::move(in_options)), jobs(options.jobs == 0 ? usable_cpus() : options.jobs) {}

  void require_not_started() const {
    if (started) {
      throw InvalidArgument("rules must be added before the evaluation starts");
    }
  }
  std::size_t add(Rule& rule, std::unique_ptr<Rule> owned, std::string name, std::vector<const Trial*> others) {
    require_not_started();
    rule.set_trials(base, std::move(others));
    runs.emplace_back(results, &rule, std::move(owned), std::move(name), options);
    return runs.size() - 1;
  }

  /// Makes views of all trials, and begins all rules.
  void start() {
    if (started) {
      return;
    }
    started = true;
    const auto view = [&](const Trial& trial) -> const EvaluatedTrial* {
      const auto known = std::ranges::find_if(views, [&](const EvaluatedTrial& one) { return &one.trial() == &trial; });
      return known != views.end() ? &*known : &views.emplace_back(trial, views.size(), options.workers);
    };
    const EvaluatedTrial* const base_view = view(base);
    for (RuleRun& run : runs) {
      run.begin(*base_view, detail::mapped(run.other_trials(), [&](const Trial* other) { return view(*other); }));
      run.resolve();
    }
  }

  /// `look`: how to get a trial's snapshot.
  void freeze(TrialSnapshot (*look)(const Trial&) = TrialSnapshot::take) {
    start();
    std::ranges::for_each(views, [&](EvaluatedTrial& view) { view.freeze(look(view.trial())); });
    std::ranges::for_each(runs, &RuleRun::resolve);
  }

  void restart() {
    start();
    reported.resize(runs.size());
    for (RuleRun& run : runs) {
      const bool again = options.make_again && !run.result().error_kind;
      if (std::unique_ptr<Rule> rule = again ? options.make_again(run.number()) : nullptr) {
        run.restart(std::move(rule));
        reported[run.number()] = 0;
      }
      run.drop_plans();
    }
    evaluated = {};
    steps_done = 0;
    behind = false;
  }

  [[nodiscard]] bool is_due(const RuleRun& run, GlobalStep step, const Reached& last) const {
    return run.other_trials().empty() ? step > evaluated.alone
                                      : step > evaluated.compared && (!last.compared || step <= last.compared);
  }

  /// Plans steps from `first` on; returns their number.
  std::size_t plan_window(std::span<const SnapshotStep> steps, std::size_t first, const Reached& last) {
    window.clear();
    std::size_t count = 0;
    while (first + count < steps.size() && count < window_steps &&
           (count == 0 || (window.size() < most_records && window.held_bytes() < most_held_bytes))) {
      const SnapshotStep& step = steps[first + count++];
      std::vector<SavedRow> rows;
      for (RuleRun& run : runs) {
        if (run.active() && is_due(run, step.step, last) && run.wants(step)) {
          run.plan(window, step, rows);
        }
      }
    }
    window_steps = std::min(window_steps * 2, most_steps);
    return count;
  }

  void evaluate_window() {
    // By default with as many jobs as the trial uses: on a remote store, many more than CPUs.
    window.read(options.jobs, counters);
    parallel_for_each({.count = runs.size(), .jobs = jobs}, [&](const LoopIndex& at) {
      if (runs[at.index].active()) {
        runs[at.index].evaluate();
      }
    });
    std::ranges::for_each(runs, &RuleRun::drop_plans);
    window.keep_values();
  }

  /// Reports the findings of all rules since the last call, by step, then rule.
  void report_new() {
    std::vector<std::pair<std::size_t, const Finding*>> news;  // with the rule's number
    reported.resize(runs.size());
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const std::vector<Finding>& findings = runs[i].result().findings;
      for (; reported[i] < findings.size(); ++reported[i]) {
        news.emplace_back(i, &findings[reported[i]]);
      }
    }
    if (options.on_finding) {
      std::ranges::stable_sort(news, [](const auto& a, const auto& b) { return a.second->step < b.second->step; });
      for (const auto& [rule, finding] : news) {
        options.on_finding(rule, *finding);
      }
    }
    for (std::size_t i = 0; i < runs.size(); ++i) {
      runs[i].keep_findings(options.most_findings);
      reported[i] = runs[i].result().findings.size();
    }
  }

  /// Finishes rules that want no more steps, unless they are to begin again: their results are final before the
  /// others'.
  void settle() {
    const bool marks_steps = base.layout().marks_steps && !ended();
    for (RuleRun& run : runs) {
      if (!behind && (!run.active() || (options.follow && run.past_end(marks_steps, whole)))) {
        run.finish(false, ended());
      }
    }
  }

  void evaluate_available(Reached last) {
    freeze();
    std::vector<SnapshotStep> known =
        views.front().snapshot().steps(std::min(evaluated.alone, evaluated.compared), last.alone);
    std::erase_if(known, [&](const SnapshotStep& one) {  // they wait for the other trial, perhaps for long
      return last.compared && one.step > last.compared && one.step <= evaluated.alone;
    });
    const auto incomplete = std::ranges::find_if(known, [](const SnapshotStep& step) { return !step.complete; });
    const std::span<const SnapshotStep> steps(known.begin(), incomplete);
    const std::uint64_t total = steps_done + steps.size();
    for (std::size_t first = 0; first < steps.size() && any_active();) {
      const std::size_t count = plan_window(steps, first, last);
      if (options.make_again && std::ranges::any_of(runs, &RuleRun::asks_again)) {
        behind = true;
        behind_last = last;
        return;
      }
      try {
        evaluate_window();
      } catch (...) {  // a rule's exception that is rethrown, or a stop: earlier findings are kept
        std::ranges::for_each(runs, &RuleRun::drop_plans);
        report_new();
        throw;
      }
      first += count;
      steps_done += count;
      const GlobalStep step = steps[first - 1].step;
      evaluated.alone = std::max(evaluated.alone, std::optional(step));
      evaluated.compared = std::max(evaluated.compared, std::optional(std::min(step, last.compared.value_or(step))));
      report_new();
      if (options.progress) {
        options.progress(steps_done, total);
      }
    }
  }

  /// Begins again if a rule has asked for it and it is time, or `at_once`: all rules, because most of them cannot plan
  /// a step twice.
  void catch_up(bool at_once) {
    const Clock::time_point begun = Clock::now();
    if (!behind || (begun < catch_up_at && !at_once)) {
      return;
    }
    restart();
    evaluate_available(behind_last);
    catch_up_at = Clock::now() + 10 * (Clock::now() - begun);
  }

  [[nodiscard]] bool any_active() const {
    return std::ranges::any_of(runs, [](const RuleRun& run) { return run.active(); });
  }
  /// Returns whether the job has ended, or its log is read as if it had, even if that is only until it grows.
  [[nodiscard]] bool ended() const {
    const TrialSnapshot& snapshot = views.front().snapshot();
    return snapshot.ended() || (!options.follow && snapshot.options().as_it_stands && !base.layout().marks_steps);
  }

  const Trial& base;
  EvaluationOptions options;
  unsigned jobs;
  bool started = false;
  std::deque<EvaluatedTrial> views;  // the base trial first; a deque, so that addresses remain valid
  std::deque<RuleRun> runs;
  std::vector<std::size_t> reported;  // findings given to `on_finding`, by rule
  std::vector<RuleResult> results;    // by rule; each written only by its run
  ReductionSets sets;
  KeptValues kept{options.most_kept_bytes};
  Window window{sets, kept};
  ReadCounters counters;
  std::size_t window_steps = 1;
  Reached evaluated;
  std::uint64_t steps_done = 0;
  GlobalStep whole{base.layout().marks_steps ? INT64_MAX : INT64_MIN};
  // A rule has asked to begin again. No step is evaluated until `catch_up`, which waits for `catch_up_at`, so that late
  // names, however many, take at most about a tenth of the time.
  bool behind = false;
  Reached behind_last;  // what was offered since
  Clock::time_point catch_up_at;
};

Evaluator::Evaluator(const Trial& trial, EvaluationOptions options)
    : impl_(std::make_unique<Impl>(trial, std::move(options))) {}
Evaluator::~Evaluator() = default;

std::size_t Evaluator::add(Rule& rule, std::string name, std::vector<const Trial*> others) {
  if (others.empty()) {
    others.assign(rule.other_trials().begin(), rule.other_trials().end());
  }
  return impl_->add(rule, nullptr, std::move(name), std::move(others));
}

std::size_t Evaluator::add(std::unique_ptr<Rule> rule, std::string name, std::vector<const Trial*> others) {
  if (!rule) {
    throw InvalidArgument("there is no rule to add");
  }
  Rule& borrowed = *rule;
  return impl_->add(borrowed, std::move(rule), std::move(name), std::move(others));
}

std::size_t Evaluator::add_error(std::string name, std::string rule, const ConfigurationError& error) {
  impl_->require_not_started();
  impl_->runs.emplace_back(impl_->results, std::move(name), std::move(rule), error);
  return impl_->runs.size() - 1;
}

void Evaluator::run() {
  offer();
  finish();
}

void Evaluator::offer(std::optional<GlobalStep> last, std::optional<GlobalStep> compared) {
  const Reached reached = {last, compared ? compared : last};
  if (impl_->behind) {
    impl_->behind_last = reached;
  } else {
    impl_->evaluate_available(reached);
  }
  impl_->catch_up(false);
  impl_->settle();
}

void Evaluator::restart() { impl_->restart(); }

void Evaluator::tick(double seconds, bool new_data, GlobalStep whole) {
  impl_->start();
  impl_->whole = whole;
  impl_->catch_up(false);
  for (RuleRun& run : impl_->runs) {
    run.tick(seconds, new_data);
  }
  impl_->report_new();
  impl_->settle();
}

void Evaluator::finish(bool complete) {
  impl_->start();
  impl_->catch_up(true);
  const bool ended = impl_->ended();  // asked before a snapshot with steps that are not evaluated
  // Warnings name the steps of the last snapshot, too.
  if (!complete) {
    impl_->freeze(TrialSnapshot::last);
  }
  for (RuleRun& run : impl_->runs) {
    run.finish(complete, ended);
  }
  impl_->report_new();
}

bool Evaluator::all_done() const noexcept { return !impl_->any_active(); }

const std::vector<RuleResult>& Evaluator::results() const { return impl_->results; }
ReadCounters Evaluator::counters() const noexcept { return impl_->counters; }

void Evaluator::plan(const std::function<void(const PlannedRead&)>& visit) {
  impl_->freeze();
  for (const SnapshotStep& step : impl_->views.front().snapshot().steps()) {
    if (!step.complete) {
      break;
    }
    impl_->window.clear();
    std::vector<SavedRow> rows;
    for (RuleRun& run : impl_->runs) {
      if (!run.active() || !run.wants(step)) {
        continue;
      }
      std::vector<PlannedRead> reads;
      run.plan(impl_->window, step, rows);
      for (const TensorPair* const pair : run.plans().back().pairs) {
        run.note_pair(*pair);
      }
      for (const RecordRequest& ask : run.plans().back().asks) {
        const detail::rules::Slot& slot = impl_->window[ask.slot];
        const TrialSnapshot& snapshot = slot.trial->snapshot();
        std::string_view reduction;
        for (const SavedItem& item : snapshot.items(slot.row, ask.tensor)) {
          if (item.position == slot.position && !item.is_value()) {
            reduction = snapshot.reduction(item.reduction);
          }
        }
        std::string what = ask.kind == RecordRequest::Kind::computed    ? to_string(ask.reduction) + " of value"
                           : ask.kind == RecordRequest::Kind::wall_time ? "wall time"
                           : reduction.empty()                          ? "value"
                                                                        : "saved " + std::string(reduction);
        reads.push_back({run.number(), step.step, slot.row.step(), slot.trial->number(), snapshot.tensor(ask.tensor),
                         snapshot.worker(slot.row.worker()), std::move(what)});
      }
      run.drop_plans();
      std::ranges::for_each(reads, visit);  // it may throw
    }
  }
}

}  // namespace smd
