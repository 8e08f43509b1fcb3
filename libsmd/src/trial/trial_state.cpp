// SPDX-License-Identifier: Apache-2.0
#include "trial/trial_state.hpp"

#include "trial/snapshot.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <utility>

namespace smd::detail::trial {

namespace {

// The innermost HoldStill of this thread.
thread_local const HoldStill* held_still = nullptr;

/// Makes requests also end with the wait that makes them. Local looks are short: those at the end of a wait count.
TrialOptions limited(TrialOptions options, const std::shared_ptr<LookLimit>& limit, bool local) {
  if (local) {
    return options;
  }
  options.remote.stop = [own = options.remote.stop, limit] { return (own && own()) || limit->over(); };
  return options;
}

/// Returns the number that an environment variable holds. Nullopt if it holds anything else.
template <class Number>
std::optional<Number> number_from_environment(const char* name) {
  const char* const text = std::getenv(name);
  if (text == nullptr) {
    return std::nullopt;
  }
  Number number = 0;
  const char* const last = text + std::strlen(text);
  const auto [end, error] = std::from_chars(text, last, number);
  return error == std::errc{} && end == last ? std::optional(number) : std::nullopt;
}

}  // namespace

WaitLimits WaitLimits::from_environment() {
  constexpr double most = 1e9;  // thirty years
  WaitLimits limits;
  const auto delay = number_from_environment<double>("SMDEBUG_TRAINING_END_DELAY_REFRESH");
  if (delay && *delay >= 0 && *delay <= most) {
    limits.end_delay = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(*delay));
  }
  limits.missing_event_file_retries = number_from_environment<std::size_t>("SMDEBUG_MISSING_EVENT_FILE_RETRY_LIMIT")
                                          .value_or(limits.missing_event_file_retries);
  limits.incomplete_steps =
      number_from_environment<std::size_t>("SMDEBUG_INCOMPLETE_STEP_WAIT_WINDOW").value_or(limits.incomplete_steps);
  return limits;
}

HoldStill::HoldStill(std::vector<const TrialState*> states) noexcept
    : states_(std::move(states)), before_(std::exchange(held_still, this)) {}
HoldStill::~HoldStill() { held_still = before_; }

bool HoldStill::holds(const TrialState& state) noexcept {
  for (const HoldStill* guard = held_still; guard != nullptr; guard = guard->before_) {
    if (std::find(guard->states_.begin(), guard->states_.end(), &state) != guard->states_.end()) {
      return true;
    }
  }
  return false;
}

TrialState::TrialState(const std::string& path, TrialOptions options, const Environment& environment)
    : stop_(options.remote.stop),
      options_(limited(std::move(options), look_limit_, !is_remote_path(path) && !environment.open)),
      clock_(*environment.clock),
      limits_(WaitLimits::from_environment()),
      auto_refresh_(options_.auto_refresh),
      opened_(open_trial(path, options_, environment)),
      name_(options_.name.empty() ? last_part(path) : options_.name),
      records_(storage(), layout()),
      maker_(storage(), layout(), traits(), options_, limits_) {
  make_snapshot();
}

std::shared_ptr<const Snapshot> TrialState::current() const {
  const std::lock_guard lock(mutex_);
  return latest_;
}

std::shared_ptr<const Snapshot> TrialState::snapshot() {
  if (auto_refresh_.load(std::memory_order_relaxed) && !HoldStill::holds(*this)) {
    refresh();
  }
  return current();
}

std::shared_ptr<const Snapshot> TrialState::snapshot_or_last() {
  try {
    return snapshot();
  } catch (const ReadError& error) {
    notice(error.problem);
  } catch (const IndexReaderException& error) {
    notice(error.problem);
  } catch (const MissingCollectionFiles& error) {
    notice({ProblemKind::not_found, {}, {}, error.what()});
  }
  return current();
}

void TrialState::refresh() {
  const auto wanting = [](const auto& failure) { return failure.problem.kind != ProblemKind::note; };
  if (const auto before = current();
      before && before->settled && std::none_of(before->failures.begin(), before->failures.end(), wanting)) {
    return;  // nothing more will be written
  }
  make_snapshot();
}

std::shared_ptr<const Snapshot> TrialState::look() {
  constexpr auto patience = std::chrono::seconds(2);
  constexpr auto pause = std::chrono::milliseconds(50);
  const auto now = clock().now();
  try {
    std::shared_ptr<const Snapshot> found = look_once();
    const std::lock_guard lock(mutex_);
    gone_since_.reset();
    return found;
  } catch (const ReadError& error) {
    // A trial is replaced by moving it away first, so the new one may appear soon.
    const std::lock_guard lock(mutex_);
    gone_since_ = gone_since_.value_or(now);
    if (error.problem.kind != ProblemKind::not_found || storage().remote() || now - *gone_since_ >= patience) {
      throw;
    }
  }
  auto old = std::make_shared<Snapshot>(*current());
  old->due = now + pause;
  return old;
}

std::shared_ptr<const Snapshot> TrialState::look_until(const std::stop_token& stop,
                                                       std::optional<std::chrono::steady_clock::time_point> end) {
  struct Limited {
    LookLimit& limit;
    ~Limited() { limit.set({}, {}); }
  };
  look_limit_->set(stop, end);
  const Limited limited{*look_limit_};
  return look();
}

std::shared_ptr<const Snapshot> TrialState::look_once() {
  const auto require_there = [this] {
    if (Status there = storage().revisit(); !there) {
      Problem problem = std::move(there.problem());
      problem.file = path();
      throw ReadError(std::move(problem));
    }
  };
  require_there();
  try {
    refresh();
  } catch (const MissingCollectionFiles&) {
    require_there();
    throw ReadError({ProblemKind::not_found, path(), {}, "its collections were removed while it was followed"});
  }
  return current();
}

void TrialState::require_readable(const Snapshot& snapshot) const {
  for (const Problem& problem : snapshot.listing->notes.kept()) {
    if (problem.kind == ProblemKind::access_denied || problem.kind == ProblemKind::network) {
      Problem whole = problem;
      whole.file = TrialPath(path()).path_of(whole.file);
      throw ReadError(std::move(whole));
    }
  }
}

void TrialState::load_range(const StepRange& range) {
  if (maker_.add_range(range)) {
    make_snapshot();
  }
}

void TrialState::make_snapshot() {
  maker_.make(
      clock().now(), [this] { return current(); },
      [this](std::shared_ptr<const Snapshot> next) {
        records_.forget_again();
        const std::lock_guard lock(mutex_);
        latest_ = std::move(next);
      });
}

std::vector<Problem> TrialState::problems() const {
  const std::shared_ptr<const Snapshot> snapshot = current();
  std::vector<Problem> problems = opened_.notes;
  const layout::CollectionsInfo& collections = *snapshot->collections;
  const auto append = [&problems](const std::vector<Problem>& more) {
    problems.insert(problems.end(), more.begin(), more.end());
  };
  append(collections.problems);
  if (auto missing = missing_collections_files(*snapshot, layout().collections_place())) {
    problems.push_back(std::move(*missing));
  }
  append(snapshot->listing->notes.all());
  for (const auto& failure : snapshot->failures) {
    problems.push_back(failure.problem);
  }
  append(snapshot->notes.all());
  const std::lock_guard lock(noticed_mutex_);
  append(noticed_.all());
  return problems;
}

void TrialState::notice(Problem problem) {
  std::string text = to_string(problem);
  const std::lock_guard lock(noticed_mutex_);
  if (noticed_.full(problem.kind)) {
    if (!noticed_texts_.contains(text)) {
      noticed_.count(problem.kind);
    }
  } else if (noticed_texts_.insert(std::move(text)).second) {
    noticed_.add(std::move(problem));
  }
}

std::string describe(StepKey key) {
  const std::string number = std::to_string(key.number);
  return key.mode == Mode::global ? "step " + number : std::string(to_string(key.mode)) + " step " + number;
}

std::string_view unavailable_tag(const Snapshot& snapshot, StepKey key, bool over) {
  switch (snapshot.state(key, over)) {
    case StepState::available:
      return {};
    case StepState::not_yet_available:
      return "StepNotYetAvailable";
    case StepState::unavailable:
      break;
  }
  return over && !snapshot.goes_beyond(key) ? "NoMoreData" : "StepUnavailable";
}

void throw_unavailable(StepKey key, std::string_view tag) {
  if (tag == "StepNotYetAvailable") {
    throw StepNotYetAvailable(describe(key) + " is not there yet; the job is still running", key);
  }
  if (tag == "NoMoreData") {
    throw NoMoreData(describe(key) + " will not come: the job has ended before it", key);
  }
  throw StepUnavailable(describe(key) + " was not saved", key);
}

}  // namespace smd::detail::trial
