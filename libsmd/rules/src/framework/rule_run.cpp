// SPDX-License-Identifier: Apache-2.0
#include "framework/rule_run.hpp"

#include "framework/common.hpp"
#include "text/escape.hpp"
#include "text/mapped.hpp"

#include <smd/log.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <span>
#include <tuple>
#include <typeinfo>
#include <unordered_set>

namespace smd::detail::rules {

namespace {

/// Adds the time of its lifetime to a sum.
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
  return !option && parameter && options.parameter_bounds ? std::optional(GlobalStep(*parameter)) : option;
}

/// Returns why a request got nothing of its record; null if it got what there is. What other requests wanted of the
/// record does not count.
const Problem* problem_of(const Slot& slot, RecordRequest::Kind kind) {
  const auto given = [](const std::optional<Problem>& problem) { return problem ? &*problem : nullptr; };
  switch (kind) {
    case RecordRequest::Kind::wall_time:
      return slot.timed ? nullptr : given(slot.problem);
    case RecordRequest::Kind::computed:
      return given(slot.problem);
    case RecordRequest::Kind::value:
    case RecordRequest::Kind::stored:
    case RecordRequest::Kind::saved:
    case RecordRequest::Kind::aside:
      break;
  }
  return given(slot.problem ? slot.problem : slot.not_held);
}

}  // namespace

RuleRun::RuleRun(std::vector<RuleResult>& results, Rule* rule, std::unique_ptr<Rule> owned, std::string name,
                 const EvaluationOptions& options)
    : results_(&results),
      number_(results.size()),
      rule_(rule),
      owned_(std::move(owned)),
      options_(&options),
      start_(bound(options, options.start, rule->parameters().start_step())),
      end_(bound(options, options.end, rule->parameters().end_step())) {
  RuleResult& own = results.emplace_back();
  own.rule = rule->name().empty() ? class_name(typeid(*rule)) : rule->name();
  own.name = name.empty() ? own.rule : std::move(name);
  own.action = rule->action();
  own.params = rule->parameters().effective();
}

RuleRun::RuleRun(std::vector<RuleResult>& results, std::string name, std::string rule, const ConfigurationError& error)
    : results_(&results), number_(results.size()), rule_(nullptr) {
  RuleResult& own = results.emplace_back();
  own.name = name.empty() ? rule : std::move(name);
  own.rule = std::move(rule);
  fail(error.what(), error.kind, error.parameter);
  own.status = evaluated_elsewhere(error.kind) ? RuleStatus::not_evaluated : RuleStatus::error;
}

template <class Call>
void RuleRun::guarded(const Call& call) {
  try {
    call();
  } catch (const MatchLimit& error) {
    refuse(error);
  } catch (const ConfigurationError& error) {
    if (options_->rethrow) {
      throw;
    }
    fail(error.what(), error.kind, error.parameter);
  } catch (const std::exception& error) {
    stopped_ = true;
    if (options_->rethrow) {
      throw;
    }
    if (dynamic_cast<const NoMoreData*>(&error) != nullptr) {
      warn(error.what());  // a trial that the rule compares with is shorter
    } else {
      failure_ = error.what();
    }
  } catch (...) {
    stopped_ = true;
    if (options_->rethrow) {
      throw;
    }
    failure_ = "the rule threw no std::exception";
  }
}

bool RuleRun::invoke(StepContext& plan) {
  bool invoked = false;
  guarded([&] {
    try {
      if (plan.failure) {
        std::rethrow_exception(plan.failure);
      }
      StepView view(plan);
      rule_->invoke_at_step(view);
      invoked = true;
    } catch (const TensorUnavailable& error) {
      skip(plan, error);
    } catch (const TensorUnavailableForStep& error) {
      if (error.missing) {
        note_unread(*error.missing);
      }
      skip(plan, error);
    } catch (const StepUnavailable& error) {
      if (error.tag() == "NoMoreData" && error.step.number <= plan.step.step.value) {
        throw;  // no later step is there either; about a later step: the rule looked beyond the end
      }
      skip(plan, error);
    } catch (const ReadError& error) {
      note_unread(error.problem);
      skip(plan, error);
    }
  });
  return invoked;
}

void RuleRun::skip(const StepContext& plan, const Error& why) const {
  log(LogLevel::debug,
      fmt::format("{} skips step {}: {}: {}", result().rule, plan.step.step.value, why.tag(), why.what()));
}

/// Ends the rule with a configuration error: that a pattern is too slow shows only on the trial's names, but the
/// configuration is wrong.
void RuleRun::refuse(const MatchLimit& error) {
  fail(error.what(), ConfigurationErrorKind::bad_value, parameter_of(error.pattern));
}

std::string RuleRun::parameter_of(const std::string& item) const {
  const auto found = std::ranges::find_if(result().params, [&](const auto& parameter) {
    return parameter.second == item || contains(rule_->parameters().list(parameter.first), item);
  });
  return found == result().params.end() ? std::string() : found->first;
}

void RuleRun::fail(std::string text, ConfigurationErrorKind kind, std::string parameter) {
  stopped_ = true;
  own().status = RuleStatus::error;
  own().message = std::move(text);
  own().error_kind = kind;
  own().error_parameter = std::move(parameter);
}

void RuleRun::begin(const EvaluatedTrial& base, std::vector<const EvaluatedTrial*> others) {
  base_ = &base;
  others_ = std::move(others);
  if (rule_ != nullptr) {
    guarded([&] { rule_->begin(); });
  }
}

void RuleRun::restart(std::unique_ptr<Rule> rule) {
  Rule& borrowed = *rule;
  borrowed.set_trials(base_->trial(), {other_trials().begin(), other_trials().end()});
  RuleRun fresh(*results_, &borrowed, std::move(rule), result().name, *options_);
  fresh.number_ = number_;
  own() = std::move(results_->back());
  results_->pop_back();
  fresh.begin(*base_, std::move(others_));
  *this = std::move(fresh);
  resolve();  // the job may end before another step
}

void RuleRun::resolve() {
  if (!active()) {
    return;
  }
  const std::vector<TensorSelection>& selections = RuleAccess::selections(*rule_);
  const std::pair now(base_->names(), selections.size());
  if (std::exchange(resolved_, now) == now) {
    return;
  }
  sets_.clear();
  try {
    for (const TensorSelection& selection : selections) {
      sets_.push_back(base_->resolve(selection));
    }
  } catch (const MatchLimit& error) {
    refuse(error);
  }
  for (TensorSet* const flags : {&matched_, &numbers_seen_, &lacking_}) {
    flags->resize(base_->snapshot().tensors());
  }
}

bool RuleRun::wants(const SnapshotStep& step) {
  const GlobalStep number = step.step;
  const std::optional<std::vector<GlobalStep>>& steps = options_->steps;
  if (last_ && number <= last_->step) {
    return false;  // the evaluation began again, and this rule goes on
  }
  cut_ = cut_ || (end_ && number >= *end_) || (steps && (steps->empty() || number > steps->back()));
  return in_range(step);
}

/// Returns whether a step is within the rule's limits, according to its number and mode.
bool RuleRun::in_range(const SnapshotStep& step) const {
  return in_range(step.step) && (!options_->mode || *options_->mode == Mode::global || *options_->mode == step.mode);
}

/// As above, according to its number alone.
bool RuleRun::in_range(GlobalStep number) const {
  return (!options_->steps || std::ranges::binary_search(*options_->steps, number)) && (!start_ || number >= *start_) &&
         (!end_ || number < *end_);
}

void RuleRun::plan(Window& window, const SnapshotStep& step, std::vector<SavedRow>& rows) {
  const Stopwatch watch(own().elapsed);
  if (rows.empty()) {
    rows = base_->rows(step.step);
  }
  const std::size_t asks = plans_.empty() ? 0 : plans_.back().asks.size();  // most steps ask for as much
  StepContext& plan = plans_.emplace_back(*this, window, step, !planned_any_, rows);
  plan.asks.reserve(asks);
  planned_any_ = true;
  StepNeeds needs(plan);
  try {
    rule_->set_required_tensors(needs);
  } catch (const std::exception&) {
    plan.failure = std::current_exception();  // rethrown by `invoke`, after the steps before were evaluated
  }
}

void RuleRun::evaluate() {
  const Stopwatch watch(own().elapsed);
  for (StepContext& plan : plans_) {
    if (!stopped_) {
      evaluate_plan(plan);
    }
  }
}

void RuleRun::evaluate_plan(StepContext& plan) {
  last_ = plan.step;
  step_unread_ = false;
  note_requests(plan);
  if (!invoke(plan)) {
    plan.evaluated = false;
    plan.findings.clear();
  }
  looked_back_ = looked_back_ || plan.looked_back;
  for (const std::uint32_t tensor : plan.lacking) {
    lacking_[tensor] = true;
  }
  if (plan.evaluated) {
    count_evaluated();
  } else {
    ++own().steps_skipped;
    if (step_unread_) {
      unread_.add_step(last_->step);
    }
  }
  const std::size_t first = own().findings.size();
  for (Finding& finding : plan.findings) {
    add_finding(std::move(finding));
  }
  sort_from(first);
  done_ = done_ || plan.done;
  stopped_ = stopped_ || plan.done || (!options_->keep_going && !plan.findings.empty());
}

void RuleRun::note_requests(const StepContext& plan) {
  for (const RecordRequest& ask : plan.asks) {
    if (ask.kind == RecordRequest::Kind::aside) {
      continue;
    }
    const Slot& slot = plan.window[ask.slot];
    if (slot.trial == base_ && !matched_[ask.tensor]) {
      matched_[ask.tensor] = true;
      ++own().tensors_matched;
    }
    if (const Problem* const problem = problem_of(slot, ask.kind)) {
      unread_.add_record(slot, *problem);
      step_unread_ = true;
    } else if (ask.kind == RecordRequest::Kind::wall_time) {
      continue;
    } else if (!serves(slot.held, ask.kind) && slot.held != Held::nothing) {
      SkippedTensors& skipped = skipped_[{slot.held, slot.trial->number()}];
      skipped.trial = slot.trial;
      skipped.tensors.insert(ask.tensor);
    } else if (slot.held != Held::nothing && slot.trial == base_) {
      numbers_seen_[ask.tensor] = true;
    }
  }
}

void RuleRun::note_unread(const Problem& problem) {
  if (problem.kind == ProblemKind::stopped) {
    return;  // the record's state is unknown, and the evaluation ends
  }
  unread_.add_record(*base_, problem);
  step_unread_ = true;
}

void RuleRun::count_evaluated() {
  ++own().steps_evaluated;
  if (last_) {
    own().first_step = std::min(own().first_step.value_or(last_->step), last_->step);
    own().last_step = std::max(own().last_step.value_or(last_->step), last_->step);
  }
}

void RuleRun::add_finding(Finding finding) {
  if (finding.message.empty()) {
    finding.message = finding_text(finding);
  }
  finding.several_workers = base_->several_workers();
  for (const Trial* const other : other_trials()) {
    finding.message += ", compared with " + printable(other->path());
  }
  own().findings.push_back(std::move(finding));
}

std::string RuleRun::shown(const std::string& worker, const std::string& text) const {
  return shown_message({.worker = worker, .several_workers = base_->several_workers(), .message = text});
}

void RuleRun::keep_findings(std::size_t most) {
  own().findings.resize(std::min(own().findings.size(), std::max<std::size_t>(most, 1)));
}

/// Sorts findings by step, tensor and worker; nullopt precedes any name.
void RuleRun::sort_from(std::size_t first) {
  std::ranges::stable_sort(std::span(own().findings).subspan(first), {},
                           [](const Finding& of) { return std::tie(of.step, of.tensor, of.worker); });
}

void RuleRun::tick(double seconds, bool new_data) {
  if (!active()) {
    return;
  }
  const std::size_t before = own().findings.size();
  RuleTick tick(*this, seconds, new_data);
  guarded([&] { rule_->tick(tick); });
  stopped_ = stopped_ || (!options_->keep_going && own().findings.size() > before);
}

/// Notes unread files that would say which records exist: index files of the steps that the rule looked at (not of
/// later ones if it stopped early), and collections files if it selects tensors by collection.
void RuleRun::note_unread_files() {
  const auto wanted = [&](GlobalStep step) {
    const bool later = last_ && step > last_->step;
    return later ? !stopped_ && in_range(step) : looked_back_ || in_range(step);
  };
  const std::vector<TensorSelection>& selections = RuleAccess::selections(*rule_);
  const bool by_collection =
      std::ranges::any_of(selections, [](const TensorSelection& selection) { return !selection.collections.empty(); });
  unread_.add_files(*base_, wanted, by_collection);
  for (const EvaluatedTrial* const other : others_) {
    unread_.add_files(*other, wanted, by_collection);
  }
}

void RuleRun::finish(bool complete, bool ended) {
  if (own().status != RuleStatus::in_progress) {  // a configuration error, or a rule that finished before the others
    return;
  }
  ended_ = ended;
  whole_ = !stopped_ && ((complete && ended) || past_end(true, GlobalStep(INT64_MAX)));
  note_missing_collections();
  if (complete && !cut_ && !stopped_) {
    const Stopwatch watch(own().elapsed);
    const std::size_t first = own().findings.size();
    RuleEnd end(*this);
    guarded([&] { rule_->at_end(end); });
    sort_from(first);
    if (evaluated_at_end_) {
      count_evaluated();
    }
  }
  if (!base_->trial().layout().has_modes && base_->snapshot().reductions() > 0) {
    if (std::string gaps = histogram_gaps(*this, matched_); !gaps.empty()) {
      warn(std::move(gaps));
    }
  }
  note_incomplete_steps();
  note_unread_files();
  own().records_unread = unread_.count();
  own().problems = unread_.problems();
  RuleSummary summary(*this);
  guarded([&] { rule_->summarize(summary); });
  if (!own().error_kind) {
    settle_status();
  }
}

std::vector<std::string> RuleRun::skipped() const {
  const std::vector<TensorSelection>& selections = RuleAccess::selections(*rule_);
  const bool every_tensor = std::ranges::any_of(selections, [](const TensorSelection& selection) {
    return selection.all && selection.names.empty() && selection.regex.empty() && selection.collections.empty();
  });
  std::vector<std::string> texts;
  for (const auto& [of, skipped] : skipped_) {
    const auto& [held, trial] = of;
    if (held == Held::text && every_tensor && result().steps_evaluated > 0) {
      continue;
    }
    std::vector<std::string_view> names;
    bool always = true;
    for (const std::uint32_t tensor : skipped.tensors) {
      const bool numbers = skipped.trial == base_ && numbers_seen_[tensor];
      if (!numbers || held == Held::shape_alone) {
        always = always && !numbers;
        names.push_back(skipped.trial->snapshot().tensor(tensor));
      }
    }
    if (names.empty()) {
      continue;
    }
    std::ranges::sort(names);
    const bool one = names.size() == 1;
    const std::string all = counted(result().tensors_matched, "tensor");
    const char* const kind = held == Held::text ? "text" : held == Held::quantised ? "quantised" : "complex";
    texts.push_back(fmt::format(
        "{}{} {}{} and {} skipped: {}", trial == 0 ? "" : "in " + printable(skipped.trial->trial().path()) + " ",
        trial == 0 ? fmt::format("{} of {}", names.size(), all) : counted(names.size(), "tensor"),
        held == Held::no_elements || held == Held::shape_alone ? (one ? "has no elements" : "have no elements")
                                                               : fmt::format("{} {}", one ? "is" : "are", kind),
        always ? "" : " at some steps", one ? "was" : "were", first_names(names)));
  }
  std::vector<std::string_view> lacking;
  for (std::uint32_t tensor = 0; tensor < lacking_.size() && result().steps_evaluated > 0; ++tensor) {
    if (lacking_[tensor] && !matched_[tensor]) {
      lacking.push_back(base_->snapshot().tensor(tensor));
    }
  }
  if (!lacking.empty()) {
    std::ranges::sort(lacking);
    texts.push_back(fmt::format("{} of {} {} skipped, for want of a value or reduction that the rule can use: {}",
                                lacking.size(), counted(result().tensors_matched + lacking.size(), "tensor"),
                                lacking.size() == 1 ? "was" : "were", first_names(lacking)));
  }
  return texts;
}

/// Reports no issues only if everything that the rule requested was read.
void RuleRun::settle_status() {
  std::string unread = unread_.count() == 0 ? std::string() : unread_.text(own().steps_evaluated);
  if (!failure_.empty()) {
    own().status = RuleStatus::error;
    own().message = "the rule failed: " + printable(failure_);
  } else if (!own().findings.empty()) {
    own().status = RuleStatus::issues_found;
    own().message = shown_message(own().findings.front());
  } else if (!unread.empty()) {
    own().status = RuleStatus::error;
    own().message = std::exchange(unread, {});
    own().unread = true;
  } else if (own().steps_evaluated == 0) {
    own().status = RuleStatus::not_evaluated;
    own().message = why_nothing();
  } else {
    own().status = RuleStatus::no_issues_found;
  }
  if (!unread.empty()) {
    warn(unread);
  }
  note_unmatched_patterns();
  if (own().status != RuleStatus::not_evaluated) {
    for (std::string& text : skipped()) {
      warn(std::move(text), false);
    }
  }
}

void RuleRun::for_each_row(std::size_t number, const std::function<void(SavedRow)>& visit) const {
  const EvaluatedTrial& trial = number == 0 ? *base_ : *others_.at(number - 1);
  for (const SnapshotStep& step : trial.snapshot().steps()) {
    if (in_range(step)) {
      for (const SavedRow row : trial.rows(step.step)) {
        visit(row);
      }
    }
  }
}

std::vector<std::string_view> RuleRun::saved_tensors(SelectionId selection, std::size_t number) const {
  const EvaluatedTrial& trial = number == 0 ? *base_ : *others_.at(number - 1);
  const TrialSnapshot& snapshot = trial.snapshot();
  const TensorSet wanted = number == 0
                               ? selected(selection)
                               : trial.resolve(RuleAccess::selections(*rule_)[static_cast<std::size_t>(selection)]);
  TensorSet saved(snapshot.tensors());
  std::unordered_set<const SavedItem*> seen;  // most steps save the same tensors
  for_each_row(number, [&](SavedRow row) {
    const std::span<const SavedItem> items = snapshot.items(row);
    if (!seen.insert(items.data()).second) {
      return;
    }
    for (const SavedItem& item : items) {
      saved[item.tensor] = item.tensor < wanted.size() && wanted[item.tensor];
    }
  });
  std::vector<std::string_view> names;
  for (const std::uint32_t tensor : snapshot.tensors_by_name()) {
    if (saved[tensor]) {
      names.push_back(snapshot.tensor(tensor));
    }
  }
  return names;
}

void RuleRun::warn(std::string text, bool casts_doubt) {
  own().doubtful = own().doubtful || casts_doubt;
  add_once(own().warnings, std::move(text));
}

void RuleRun::none_evaluated(std::string reason) {
  if (own().findings.empty()) {
    own().steps_skipped += std::exchange(own().steps_evaluated, 0) - (evaluated_at_end_ ? 1 : 0);  // the end is no step
    own().first_step = own().last_step = std::nullopt;
    explain(std::move(reason));
  }
}

void RuleRun::note_pair(const TensorPair& pair) {
  if (const auto at = std::ranges::lower_bound(own().pairs, pair); at == own().pairs.end() || *at != pair) {
    own().pairs.insert(at, pair);
  }
}

/// Puts these warnings before the others. Called at the end, because a worker's collections file may appear after its
/// first steps.
void RuleRun::note_missing_collections() {
  std::vector<std::string> others = std::exchange(own().warnings, {});
  for (const TensorSelection& selection : RuleAccess::selections(*rule_)) {
    for (const std::string& name : selection.collections) {
      if (!base_->snapshot().has_collection(name)) {
        warn("the trial has no collection " + in_quotes(name), false);
      }
    }
  }
  // While the job runs, the files may still appear.
  if (const auto missing = base_->snapshot().missing_collections_files();
      missing && missing->kind == ProblemKind::warning && base_->snapshot().ended()) {
    warn(to_string(*missing));
  }
  for (std::string& text : others) {
    warn(std::move(text), false);  // its doubt was noted before
  }
}

/// Warns of each given pattern that matches no tensor: beside a pattern that matches one, a typo would pass in silence.
void RuleRun::note_unmatched_patterns() {
  if (base_->snapshot().tensors() == 0 || (options_->follow && stopped_ && !done_ && !ended_)) {
    return;  // the result says why; or the rule triggered before the job ended, which may still save such a tensor
  }
  for (const TensorSelection& selection : RuleAccess::selections(*rule_)) {
    for (const std::string& pattern : selection.regex) {
      if (!rule_->parameters().given(parameter_of(pattern))) {
        continue;
      }
      try {
        if (contains(base_->snapshot().select({.regex = {pattern}}), true)) {
          continue;
        }
      } catch (const MatchLimit&) {  // too slow alone; beside others it is not tried on names that they match
        continue;
      }
      if (std::string text = unmatched(*this, pattern); own().message.find(text) == std::string::npos) {
        warn(std::move(text));
      }
    }
  }
}

/// Warns of steps that wait for workers, or lack them once the job has ended, as they do if a worker died.
void RuleRun::note_incomplete_steps() {
  if (stopped_) {
    return;
  }
  const std::string steps = base_->snapshot().incomplete_text([&](const SnapshotStep& step) { return in_range(step); });
  if (!steps.empty()) {
    warn(steps + (steps.starts_with("steps ") ? " and were" : " and was") +
         (ended_ ? " evaluated all the same" : " not evaluated"));
  }
}

std::string RuleRun::why_nothing() const {
  const std::string nothing = "nothing was evaluated: ";
  if (base_->snapshot().listed_files() == 0) {
    return nothing + (ended_ ? "no step was saved" : "no step saved yet");
  }
  if (!last_) {
    const std::vector<SnapshotStep> steps = base_->snapshot().steps();
    const auto first = std::ranges::find_if(steps, [&](const SnapshotStep& step) { return in_range(step); });
    return nothing + (first != steps.end() && !first->complete ? "no step in range is complete"
                                                               : "no step of the trial is in range");
  }
  const std::vector<std::string> without_numbers = skipped();
  if (without_numbers.empty()) {
    return nothing + nothing_evaluated(*this, reason_);
  }
  return fmt::format("{}{}{}{}", nothing, reason_, reason_.empty() ? "" : "; ", fmt::join(without_numbers, "; "));
}

}  // namespace smd::detail::rules
