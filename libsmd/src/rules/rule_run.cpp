// SPDX-License-Identifier: Apache-2.0
#include "rules/rule_run.hpp"

#include "base/escape.hpp"
#include "rules/finding_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <tuple>
#include <utility>

namespace smd::detail::rules {

namespace {

/// Adds the time until its end to a sum.
class Stopwatch {
 public:
  explicit Stopwatch(double& sum) : sum_(sum), start_(std::chrono::steady_clock::now()) {}
  ~Stopwatch() { sum_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double& sum_;
  std::chrono::steady_clock::time_point start_;
};

std::optional<GlobalStep> bound(const EvaluationOptions& options, std::optional<GlobalStep> option,
                                std::optional<std::int64_t> parameter) {
  if (option || !parameter || options.steps || !options.parameter_bounds) {
    return option;
  }
  return GlobalStep(*parameter);
}

}  // namespace

RuleRun::RuleRun(std::size_t number, Rule* rule, std::unique_ptr<Rule> owned, std::string name,
                 const EvaluationOptions& options)
    : number_(number),
      rule_(rule),
      owned_(std::move(owned)),
      options_(&options),
      start_(bound(options, options.start, rule->parameters().start_step())),
      end_(bound(options, options.end, rule->parameters().end_step())) {
  result_.rule = rule->name();
  result_.name = name.empty() ? std::string(rule->name()) : std::move(name);
  result_.params = rule->parameters().effective();
}

RuleRun::RuleRun(std::size_t number, std::string name, std::string rule, const ConfigurationError& error)
    : number_(number), rule_(nullptr) {
  result_.name = name.empty() ? rule : std::move(name);
  result_.rule = std::move(rule);
  result_.status = error.kind == ConfigurationErrorKind::custom_rule ? RuleStatus::not_evaluated : RuleStatus::error;
  result_.message = error.what();
  result_.error_kind = error.kind;
  result_.error_parameter = error.parameter;
}

template <class Call>
void RuleRun::guarded(const Call& call) {
  try {
    call();
  } catch (const MatchLimit& error) {
    refuse(error);
  } catch (const std::exception& error) {
    failure_ = error.what();
    stopped_ = true;
  }
}

/// Whether a pattern is too slow shows only on the trial's names. It is the configuration's mistake all the same.
void RuleRun::refuse(const MatchLimit& error) {
  stopped_ = true;
  result_.status = RuleStatus::error;
  result_.message = error.what();
  result_.error_kind = ConfigurationErrorKind::bad_value;
  for (const auto& [name, text] : result_.params) {
    const std::vector<std::string>& items = rule_->parameters().list(name);
    if (text == error.pattern || std::find(items.begin(), items.end(), error.pattern) != items.end()) {
      result_.error_parameter = name;
      return;
    }
  }
}

void RuleRun::begin(const TrialView& base, std::vector<const TrialView*> others) {
  base_ = &base;
  others_ = std::move(others);
  if (rule_ != nullptr) {
    guarded([&] { rule_->begin(); });
  }
}

void RuleRun::resolve() {
  if (!active()) {
    return;
  }
  const Snapshot& snapshot = base_->snapshot();
  if (resolved_.collections == snapshot.collections && resolved_.generation == snapshot.generation &&
      resolved_.tensors == snapshot.catalog.tensors().size() && sets_.size() == RuleAccess::selections(*rule_).size()) {
    return;  // the same names in the same collections
  }
  resolved_ = {snapshot.collections, snapshot.generation, snapshot.catalog.tensors().size()};
  sets_.clear();
  try {
    for (const TensorSelection& selection : RuleAccess::selections(*rule_)) {
      sets_.push_back(base_->resolve(selection));
    }
  } catch (const MatchLimit& error) {
    refuse(error);
  }
  matched_.resize(base_->snapshot().catalog.tensors().size());
}

bool RuleRun::wants(const trial::Step& step) {
  const GlobalStep number(step.number);
  if (end_ && number >= *end_) {
    cut_ = true;
    return false;
  }
  if (options_->steps && !std::binary_search(options_->steps->begin(), options_->steps->end(), number)) {
    cut_ = cut_ || options_->steps->empty() || number > options_->steps->back();
    return false;
  }
  // Without a choice of steps they begin at 0; one writer's mistake makes negative ones (FORMAT.md, section 12.4).
  return number >= start_.value_or(GlobalStep(options_->steps ? INT64_MIN : 0)) &&
         (!options_->mode || *options_->mode == Mode::global || *options_->mode == step.mode);
}

void RuleRun::plan(Window& window, const trial::Step& step) {
  const Stopwatch watch(result_.elapsed);
  StepContext& plan = plans_.emplace_back(*this, window, step, !planned_any_);
  planned_any_ = true;
  StepNeeds needs(plan);
  guarded([&] { rule_->set_required_tensors(needs); });
  matched(plan);
}

void RuleRun::matched(const StepContext& plan) {
  const auto add = [&](std::uint32_t tensor) {
    if (!matched_[tensor]) {
      matched_[tensor] = true;
      ++result_.tensors_matched;
    }
  };
  for (const StepContext::Ask& ask : plan.asks()) {
    if (plan.window()[ask.slot].view == base_) {
      add(ask.tensor);
    }
  }
}

void RuleRun::judge(const Window& window) {
  const Stopwatch watch(result_.elapsed);
  for (StepContext& plan : plans_) {
    if (stopped_) {
      break;
    }
    judge_plan(plan, window);
  }
}

void RuleRun::judge_plan(StepContext& plan, const Window& window) {
  if (!result_.first_step) {
    result_.first_step = GlobalStep(plan.step().number);
  }
  result_.last_step = GlobalStep(plan.step().number);
  last_mode_ = plan.step().mode;
  last_mode_step_ = ModeStep(plan.step().mode_step);
  for (const StepContext::Ask& ask : plan.asks()) {
    if (const std::optional<Problem>& problem = window[ask.slot].problem) {
      note_problem(*problem);
    }
  }
  StepView view(plan);
  guarded([&] { rule_->invoke_at_step(view); });
  ++(plan.judged ? result_.steps_evaluated : result_.steps_skipped);
  const std::size_t first = result_.findings.size();
  for (Finding& finding : plan.findings) {
    add_finding(std::move(finding));
  }
  sort_from(first);
  stopped_ = stopped_ || plan.done || (!options_->keep_going && !plan.findings.empty());
}

/// What is still to come is no trouble: its unit is passed over, as one that was not saved.
void RuleRun::note_problem(const Problem& problem) {
  if (problem.kind != ProblemKind::not_yet &&
      std::find(result_.problems.begin(), result_.problems.end(), problem) == result_.problems.end()) {
    result_.problems.push_back(problem);
  }
}

void RuleRun::drop_plans() { plans_.clear(); }

void RuleRun::add_finding(Finding finding) {
  if (finding.message.empty()) {
    finding.message = finding_text(finding);
  }
  result_.findings.push_back(std::move(finding));
}

/// None comes before any name.
void RuleRun::sort_from(std::size_t first) {
  std::stable_sort(result_.findings.begin() + static_cast<std::ptrdiff_t>(first), result_.findings.end(),
                   [](const Finding& a, const Finding& b) {
                     return std::tie(a.step, a.tensor, a.worker) < std::tie(b.step, b.tensor, b.worker);
                   });
}

void RuleRun::place(Finding& finding) const {
  finding.step = result_.last_step;
  finding.mode = last_mode_;
  finding.mode_step = last_mode_step_;
}

void RuleRun::tick(double seconds, bool new_data) {
  if (!active()) {
    return;
  }
  const std::size_t before = result_.findings.size();
  RuleTick tick(*this, seconds, new_data);
  guarded([&] { rule_->tick(tick); });
  stopped_ = stopped_ || (!options_->keep_going && result_.findings.size() > before);
}

/// The first problem that leaves the verdict open; null if none does. What is gone for good was as good as not saved.
const Problem* RuleRun::unreadable() const {
  const auto problem = std::find_if(result_.problems.begin(), result_.problems.end(),
                                    [](const Problem& one) { return one.kind != ProblemKind::absent; });
  return problem == result_.problems.end() ? nullptr : &*problem;
}

void RuleRun::finish(bool complete, bool ended) {
  if (result_.error_kind) {  // of the configuration: nothing changes it
    return;
  }
  ended_ = ended;
  note_missing_collections();
  if (complete && !cut_ && !stopped_) {
    const Stopwatch watch(result_.elapsed);
    const std::size_t first = result_.findings.size();
    RuleEnd end(*this);
    guarded([&] { rule_->at_end(end); });
    sort_from(first);
    result_.steps_evaluated += judged_at_end_ ? 1 : 0;
  }
  if (!failure_.empty()) {
    result_.status = RuleStatus::error;
    result_.message = "the rule failed: " + printable(failure_);
  } else if (!result_.findings.empty()) {
    result_.status = RuleStatus::issues_found;
    result_.message = result_.findings.front().message;
  } else if (const Problem* const problem = unreadable()) {
    result_.status = RuleStatus::error;
    result_.message = "a value it needs cannot be read: " + to_string(*problem);
  } else if (result_.steps_evaluated == 0) {
    result_.status = RuleStatus::not_evaluated;
    result_.message = nothing_judged();
  } else {
    result_.status = RuleStatus::no_issues_found;
  }
}

void RuleRun::warn(std::string text) {
  if (std::find(result_.warnings.begin(), result_.warnings.end(), text) == result_.warnings.end()) {
    result_.warnings.push_back(std::move(text));
  }
}

/// Before other warnings. At the end: a worker's collections file may come after its first steps.
void RuleRun::note_missing_collections() {
  std::vector<std::string> others = std::exchange(result_.warnings, {});
  for (const TensorSelection& selection : RuleAccess::selections(*rule_)) {
    for (const std::string& name : selection.collections) {
      if (!base_->snapshot().collections->collections.contains(name)) {
        warn("the trial has no collection '" + printable(name) + "'");
      }
    }
  }
  for (std::string& text : others) {
    warn(std::move(text));
  }
}

std::string RuleRun::nothing_judged() const {
  if (base_ != nullptr && base_->snapshot().listing->files.empty()) {
    const std::vector<Problem>& notes = base_->snapshot().listing->notes;
    if (std::any_of(notes.begin(), notes.end(), [](const Problem& note) { return note.kind != ProblemKind::note; })) {
      return "nothing was judged: no step can be read";
    }
    return ended_ ? "nothing was judged: no step was saved" : "nothing was judged: no step saved yet";
  }
  if (base_ == nullptr || !result_.first_step) {
    return "nothing was judged: no step of the trial is in range";
  }
  std::string wanted;
  const auto add = [&](std::string_view kind, const std::vector<std::string>& items) {
    for (const std::string& item : items) {
      wanted += (wanted.empty() ? "" : ", ") + std::string(kind) + " '" + printable(item) + "'";
    }
  };
  for (const TensorSelection& selection : RuleAccess::selections(*rule_)) {
    add("collection", selection.collections);
    add("pattern", selection.regex);
    add("tensor", selection.names);
  }
  if (result_.tensors_matched > 0) {
    return fmt::format("nothing was judged at {} steps: of {} tensors asked for, what the rule needs was not saved",
                       result_.steps_skipped, result_.tensors_matched);
  }
  const layout::NameTable& tensors = base_->snapshot().catalog.tensors();
  std::string names;
  const std::vector<std::uint32_t>& sorted = base_->snapshot().catalog.sorted_tensors();
  for (std::size_t i = 0; i < std::min<std::size_t>(sorted.size(), 3); ++i) {
    names += (i == 0 ? "" : ", ") + printable(tensors[sorted[i]]);
  }
  return fmt::format("nothing was judged: {} {} at no step in range; the trial holds {} {}{}{}",
                     wanted.empty() ? "what the rule needs" : wanted,
                     wanted.empty() ? "was saved" : "has what it needs", tensors.size(),
                     tensors.size() == 1 ? "tensor" : "tensors", names.empty() ? "" : ": ",
                     names + (sorted.size() > 3 ? ", ..." : ""));
}

}  // namespace smd::detail::rules
