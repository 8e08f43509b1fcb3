// SPDX-License-Identifier: Apache-2.0
#include "trial/trial_state.hpp"

#include "base/parallel.hpp"
#include "text/environment.hpp"
#include "text/escape.hpp"
#include "text/mapped.hpp"
#include "text/number.hpp"
#include "text/path.hpp"

#include <smd/error.hpp>

#include <algorithm>
#include <iterator>
#include <new>

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
  const auto value = text::environment(name);
  return value ? text::parsed<Number>(*value) : std::nullopt;
}

/// Returns the steps whose completeness may have changed.
std::vector<std::int64_t> touched_steps(const layout::Found& found, bool rows) {
  std::vector<std::int64_t> touched;
  if (!found.listing->named) {
    return touched;
  }
  if (rows) {
    for (const layout::LoadedSteps::Row& row : found.loaded.rows) {
      touched.push_back(row.row.file.step);
    }
    for (const layout::LoadedSteps::Failure& failure : found.loaded.failures) {
      touched.push_back(failure.file.step);
    }
  }
  std::ranges::transform(found.listing->named->fresh, std::back_inserter(touched), &layout::StepPart::step);
  return touched;
}

/// Fixes a range that counts steps to certain steps. `steps`: all steps.
void fix_range(StepRange& range, const std::vector<std::int64_t>& steps) {
  if (const std::optional<std::size_t> newest = range.newest; newest && *newest > 0) {
    range = *newest >= steps.size() ? StepRange() : StepRange{.first = GlobalStep(steps[steps.size() - *newest])};
  } else if (const std::optional<std::size_t> oldest = range.oldest;
             oldest && *oldest > 0 && *oldest <= steps.size() && steps[*oldest - 1] < INT64_MAX) {
    range = StepRange{.first = GlobalStep(INT64_MIN), .end = GlobalStep(steps[*oldest - 1] + 1)};
  }
}

}  // namespace

WaitLimits WaitLimits::from_environment() {
  constexpr double most = 1e8;  // three years
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
    if (contains(guard->states_, &state)) {
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
      path_(only_file().empty()       ? storage().root()
            : storage().root() == "." ? only_file()
                                      : TrialPath(storage().root()).path_of(only_file())),
      records_(storage(), layout()) {
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
    notice(make_problem(ProblemKind::not_found, error.what()));
  }
  return current();
}

void TrialState::refresh(bool awaited) {
  const auto wanting = [](const auto& failure) { return failure.problem.kind != ProblemKind::note; };
  if (const auto before = current();
      before && before->settled && (stays() || std::ranges::none_of(before->failures, wanting))) {
    return;  // nothing more will be written, or what is will not be read
  }
  make_snapshot(awaited);
}

std::shared_ptr<const Snapshot> TrialState::look() {
  constexpr auto patience = std::chrono::seconds(2);
  constexpr auto pause = std::chrono::milliseconds(50);
  const auto now = clock().now();
  try {
    std::shared_ptr<const Snapshot> found = look_once();
    look_beside(now);
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
      throw ReadError(in_file(std::move(there.problem()), path()));
    }
  };
  require_there();
  try {
    refresh(true);
  } catch (const MissingCollectionFiles&) {
    require_there();
    throw ReadError({ProblemKind::not_found, path(), {}, "its collections were removed while it was followed"});
  }
  return current();
}

/// Notices, once, that another run has come beside the one that was opened because it was the only one.
void TrialState::look_beside(Time now) {
  if (opened_.alone_in.empty() || now < look_beside_at_.load()) {
    return;
  }
  try {
    // Not what is no run of its kind, such as the checkpoints of a job beside its log.
    const std::vector<std::string> runs =
        find_trials(opened_.alone_in, nullptr, {.layout = std::string(traits().name), .remote = options_.remote});
    if (std::ranges::any_of(runs, [&](const std::string& run) { return !text::lies_in(run, storage().root()); })) {
      notice(make_problem(ProblemKind::warning, "another run has come beside it and is not read; begin anew with " +
                                                    in_quotes(opened_.alone_in)));
      look_beside_at_ = Time::max();
      return;
    }
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): the next look may succeed
  }
  look_beside_at_ = clock().now() + std::max<Time::duration>(std::chrono::seconds(1), 20 * (clock().now() - now));
}

void TrialState::require_readable(const Snapshot& snapshot) const {
  for (const Problem& problem : snapshot.listing->notes.kept()) {
    if (problem.kind == ProblemKind::access_denied || problem.kind == ProblemKind::network) {
      throw ReadError(in_file(problem, TrialPath(storage().root()).path_of(problem.file)));
    }
  }
}

void TrialState::load_range(const StepRange& range) {
  {
    const std::lock_guard lock(making_);
    if (layout::takes_all(ranges_)) {
      return;
    }
    ranges_.push_back(range);
    ranges_changed_ = true;
  }
  make_snapshot();
}

void TrialState::make_snapshot(bool awaited) {
  const Time now = clock().now();
  const std::lock_guard making(making_);
  std::shared_ptr<const Snapshot> next = next_snapshot(now, current(), awaited);
  records_.forget_again();
  const std::lock_guard lock(mutex_);
  latest_ = std::move(next);
}

unsigned TrialState::jobs(unsigned wanted) const noexcept {
  const unsigned asked = wanted != 0 ? wanted : options_.jobs;
  return asked != 0           ? storage().readers(asked)
         : storage().remote() ? std::max(1u, storage().parallelism())
                              : storage().readers(default_jobs());
}

/// Throws if the look was stopped: its result is incomplete, and the snapshot must stay unchanged.
void TrialState::require_not_stopped() const {
  if (stopped_ || (storage().remote() && options_.remote.stop())) {
    throw ReadError(make_problem(ProblemKind::stopped,
                                 storage().remote() ? "the request was stopped before the server had answered"
                                                    : "reading was stopped before all was read",
                                 storage().root()));
  }
}

layout::Found TrialState::find_news(Time now, const Snapshot* before, bool everything, bool as_it_stands) {
  const std::function<bool()> own = storage().remote() ? options_.remote.stop : unless_short(options_.remote.stop);
  const std::function<bool()> stop = [&] {
    stopped_ = stopped_ || (own && own());
    return stopped_.load();
  };
  stopped_ = false;
  // Nothing more comes to what is half written when a job has ended.
  const bool over = before != nullptr && before->listing->ended;
  const layout::LookRequest request{
      .ranges = ranges_,
      .ranges_changed = ranges_changed_,
      .everything = everything,
      .incomplete_steps = window_,
      .as_it_stands = as_it_stands,
      .provisional = before != nullptr && !keeps_back_,
      .half_written = over ? std::min(limits_.half_written, limits_.end_delay) : limits_.half_written,
      .now = now,
      .jobs = jobs(),
      .progress = &options_.progress,
      .stop = &stop};
  auto found = layout().look(storage(), request, before == nullptr ? nullptr : before->listing.get(),
                             before == nullptr ? nullptr : before->collections);
  require_not_stopped();
  if (!found) {
    throw ReadError(std::move(found.problem()));
  }
  return *std::move(found);
}

/// For a layout that returns all rows, whatever the ranges. Returns those in range. Ranges that count steps are fixed
/// to certain steps as soon as there are that many: the newest, and all later ones. `for_each_row` calls its argument
/// with the step of each new row, and with a function that makes the row.
template <class ForEachRow>
std::vector<layout::StepRow> TrialState::rows_in_range(const ForEachRow& for_each_row, Snapshot& snapshot) {
  const auto count_steps = [&] {
    return std::ranges::any_of(ranges_, [](const StepRange& range) { return range.newest || range.oldest; });
  };
  layout::StepCounts counts;
  if (count_steps()) {
    std::vector<std::int64_t> steps;
    std::ranges::transform(snapshot.steps, std::back_inserter(steps), &Step::number);
    for_each_row([&](std::int64_t step, const auto&) { steps.push_back(step); });
    sort_each_once(steps);
    std::ranges::for_each(ranges_, [&](StepRange& range) { fix_range(range, steps); });
    if (count_steps()) {  // there are fewer
      std::ranges::transform(steps, std::back_inserter(counts),
                             [](std::int64_t step) { return std::pair(step, std::size_t{1}); });
    }
  }
  const layout::RangeFilter filter(ranges_, counts);
  std::vector<layout::StepRow> rows;
  std::vector<std::int64_t> left_out;
  for_each_row([&](std::int64_t step, const auto& row) {
    if (filter.holds(step)) {
      rows.push_back(row());
    } else {
      left_out.push_back(step);
    }
  });
  snapshot.more_names = snapshot.more_names || !left_out.empty();
  sort_each_once(left_out);
  snapshot.left_out.merge(std::move(left_out), std::less<>());
  return rows;
}

void TrialState::take(Snapshot& snapshot, layout::Found&& found, bool first) {
  snapshot.failures = std::move(found.loaded.failures);
  snapshot.notes.add(std::move(found.loaded.notes));
  const bool named = found.listing->named.has_value();
  if (found.loaded.rows.empty() && named) {
    return;
  }
  Catalog::Added added = snapshot.catalog.add(std::move(found.loaded));
  std::map<std::uint64_t, std::uint32_t> seen;  // numbers of rows that have successive ids, by the first id
  for (const layout::RowSequence& sequence : added.rows) {
    if (sequence.seen) {
      seen.emplace(sequence.row.file.id, sequence.count);
    }
  }
  const auto was_seen = [&](std::uint64_t id) {
    const auto after = seen.upper_bound(id);
    return after != seen.begin() && id - std::prev(after)->first < std::prev(after)->second;
  };
  const Time now = clock_.now();
  const std::uint64_t known = snapshot.last_arrival;
  const auto arrived = [&](const layout::StepPart& part) {
    snapshot.last_arrival = std::max(snapshot.last_arrival, part.id);
    if (part.id > known && !was_seen(part.id)) {
      snapshot.whole.came(GlobalStep(part.step), now);
      if (!first) {
        snapshot.arrivals.push_back(part);
      }
    }
  };
  const bool supersedes = !added.superseding.empty() || options_.superseded == Superseded::only;
  if (!named && !supersedes && layout::takes_all(ranges_)) {
    for (const layout::RowSequence& rows : added.rows) {
      for (std::uint32_t i = first ? rows.count - 1 : 0; i < rows.count; ++i) {
        arrived(rows.nth(i).file);
      }
    }
    return snapshot.add(std::move(added.rows));
  }
  std::vector<layout::StepRow> rows;
  if (named || supersedes) {
    rows = layout::rows_of(added.rows);
    added.rows = {};
  }
  if (named && !first) {
    auto kept = rows.begin();
    for (layout::StepRow& row : rows) {
      const Step* const step = snapshot.find(row.file.step);
      if (step != nullptr && !snapshot.catalog.keep_changes(row, snapshot.rows_of(*step))) {
        continue;
      }
      if (step != nullptr && snapshot.complete(step->number)) {
        snapshot.arrivals.push_back({row.file.step, row.file.worker, row.payload});
      }
      *kept++ = row;
    }
    rows.erase(kept, rows.end());
  }
  if (supersedes) {
    snapshot.supersede(rows, added.superseding, options_.superseded);
  }
  if (!named) {
    // Sequences are not taken apart before it is known which few of their rows are wanted.
    const auto of_sequences = [&](const auto& visit) {
      for (const layout::RowSequence& sequence : added.rows) {
        for (std::uint32_t i = 0; i < sequence.count; ++i) {
          visit(sequence.step(i), [&] { return sequence.nth(i); });
        }
      }
    };
    const auto of_rows = [&, all = std::move(rows)](const auto& visit) {
      std::ranges::for_each(all, [&](const layout::StepRow& row) { visit(row.file.step, [&] { return row; }); });
    };
    rows = supersedes ? rows_in_range(of_rows, snapshot) : rows_in_range(of_sequences, snapshot);
    std::ranges::for_each(rows, [&](const layout::StepRow& row) { arrived(row.file); });
  }
  snapshot.add(std::move(rows));
}

/// Sets whether the snapshot is settled, and otherwise when to look again. Each worker writes the end marker when it is
/// done. So one marker does not end the job while a worker lacks the last steps, or has written more since, unless
/// nothing comes for long.
void TrialState::settle(Snapshot& snapshot, const Snapshot* before, bool news, Time now) {
  snapshot.settled = stays();
  snapshot.end_doubted = false;
  if (snapshot.settled || !snapshot.over()) {
    quiet_since_.reset();
    return;
  }
  const layout::Listing& listing = *snapshot.listing;
  const bool marked = !quiet_since_ || before == nullptr || before->listing->ended_at != listing.ended_at;
  goes_on_ = !marked && (goes_on_ || news);
  marks_ = (quiet_since_ ? marks_ : 0) + (marked ? 1 : 0);
  const std::chrono::nanoseconds long_delay = 60 * limits_.end_delay;
  // One worker may write the marker twice, so that marks say nothing of one that lacks steps.
  const bool lacks = listing.ended_at && !snapshot.waiting.empty() && storage::age_of(*listing.ended_at) < long_delay;
  snapshot.end_doubted = lacks || (listing.ended_at && goes_on_ && marks_ < listing.workers.size());
  const std::chrono::nanoseconds delay = snapshot.end_doubted ? long_delay : limits_.end_delay;
  if (marked || news) {
    quiet_since_ = now;
  } else {
    snapshot.settled = now - *quiet_since_ >= delay;
  }
  if (!snapshot.settled) {
    snapshot.due = std::min(snapshot.due.value_or(Time::max()), *quiet_since_ + delay);
  }
}

std::shared_ptr<Snapshot> TrialState::next_snapshot(Time now, std::shared_ptr<const Snapshot> before,
                                                    bool awaited) try {
  const std::uint64_t generation = storage().generation();
  if (before && before->generation != generation) {
    before = nullptr;  // another directory took the trial's place
    quiet_since_.reset();
  }
  // If steps are not known by names, a further range needs all rows. So do superseded values: the snapshot before does
  // not have the others.
  const bool unnamed = before && !before->listing->named;
  layout::Found found;
  // A caller that waits expects the trial to grow; for others, a look like the last one shows whether it did. What says
  // that it has ended stays as it is.
  bool grows =
      as_it_stands_ && options_.until_it_grows && (unnamed ? !before->listing->ended : awaited && before == nullptr);
  const bool asks = grows && !awaited;
  if (asks) {
    found = find_news(now, before.get(), false, true);
    grows = found.afresh || found.news;
  }
  // A trial that grows is read again: part of what was read as it stood may have been half written.
  const bool everything = grows || (unnamed && (ranges_changed_ || options_.superseded != Superseded::left_out));
  const bool as_it_stands = as_it_stands_ && !grows;
  if (!asks || everything) {
    found = find_news(now, before.get(), everything, as_it_stands);
  }
  if (everything) {
    found.afresh = true;
  }
  require_not_stopped();
  if (const layout::CollectionsInfo& collections = *found.collections; !collections.found) {
    const auto failed = std::ranges::find_if(collections.problems, [](const Problem& problem) {
      return problem.kind != ProblemKind::note && problem.kind != ProblemKind::not_yet;
    });
    if (failed != collections.problems.end()) {
      throw ReadError(*failed);
    }
    throw_missing_collections(collections);
  }
  auto next = before && !found.afresh ? std::make_shared<Snapshot>(*before) : std::make_shared<Snapshot>();
  if (before && found.afresh) {
    next->catalog = before->catalog;  // keeps ids, and views of names valid
    next->more_names = true;
    next->arrivals = before->arrivals;
    next->last_arrival = before->last_arrival;
    next->whole = before->whole;
  }
  next->generation = generation;
  next->listing = found.listing;
  next->collections = found.collections;
  next->ended = found.listing->ended || (as_it_stands && !traits().marks_steps);
  next->may_grow = as_it_stands && options_.until_it_grows && !found.listing->ended;
  next->several_count = options_.superseded != Superseded::left_out;
  next->due = found.due;
  if (found.listing->named) {
    ranges_ = std::move(found.ranges);
  }
  const bool news = found.news;
  const bool afresh = before == nullptr || ranges_changed_ || found.afresh;
  std::vector<std::int64_t> touched = touched_steps(found, before != nullptr);
  take(*next, std::move(found), before == nullptr || grows);
  find_last_complete(*next, afresh ? std::nullopt : std::optional(std::move(touched)), window_,
                     [&](std::span<const layout::StepPart> files) {
                       return layout().load(storage(), *next->listing, files, storage().remote() ? jobs() : 1);
                     });
  settle(*next, before.get(), news, now);
  require_not_stopped();
  if (options_.strict) {
    for (const auto& failure : next->failures) {
      if (failure.problem.kind == ProblemKind::damaged) {
        throw IndexReaderException(failure.problem);
      }
    }
  }
  ranges_changed_ = false;
  as_it_stands_ = as_it_stands;
  return next;
} catch (const std::bad_alloc&) {
  throw ReadError({ProblemKind::io, std::string(layout().folders().front()), {}, "memory ran out"});
}

void TrialState::throw_missing_collections(const layout::CollectionsInfo& collections) const {
  const bool ended = layout().ended(storage());
  const bool written =
      std::ranges::find(collections.problems, ProblemKind::not_yet, &Problem::kind) != collections.problems.end();
  throw MissingCollectionFiles(in_quotes(storage().root()) + " has no collection files " +
                                   (written ? "that can be read yet " : "") + what_lies_in(storage()) +
                                   (ended ? "; the job has ended: nothing was saved, check the hook configuration"
                                          : "; wait for them with smd-wait, or check the path"),
                               storage().root(), ended);
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
  std::ranges::transform(snapshot->failures, std::back_inserter(problems), &layout::LoadedSteps::Failure::problem);
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
  // nullopt, if the mode has no step, is less than any number
  return over && snapshot.last_step(key.mode) <= key.number ? "NoMoreData" : "StepUnavailable";
}

void throw_unavailable(const Snapshot& snapshot, StepKey key, std::string_view tag) {
  if (tag == "StepNotYetAvailable") {
    throw StepNotYetAvailable(describe(key) + " is not there yet; the job is still running", key);
  }
  if (tag == "NoMoreData") {
    throw NoMoreData(describe(key) + " will not come: the job has ended before it", key,
                     snapshot.last_step(key.mode).value_or(-1));
  }
  throw StepUnavailable(describe(key) + " was not saved", key);
}

}  // namespace smd::detail::trial
