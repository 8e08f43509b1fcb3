// SPDX-License-Identifier: Apache-2.0
#include "trial/trial_state.hpp"

#include "base/escape.hpp"
#include "base/parallel.hpp"
#include "layout/trial_paths.hpp"
#include "storage/s3_module.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <future>
#include <iterator>
#include <new>
#include <utility>

namespace smd::detail::trial {

namespace {

constexpr std::size_t default_window = 1000;

std::optional<std::size_t> number_from_environment(const char* name) {
  const char* const text = std::getenv(name);
  if (text == nullptr) {
    return std::nullopt;
  }
  std::size_t number = 0;
  const char* const last = text + std::strlen(text);
  const auto [end, error] = std::from_chars(text, last, number);
  return error == std::errc{} && end == last ? std::optional(number) : std::nullopt;
}

/// Seconds, whole or not; nothing for anything else.
std::optional<std::chrono::nanoseconds> seconds_from_environment(const char* name) {
  const char* const text = std::getenv(name);
  if (text == nullptr) {
    return std::nullopt;
  }
  constexpr double most = 1e9;  // thirty years
  double number = 0;
  const char* const last = text + std::strlen(text);
  const auto [end, error] = std::from_chars(text, last, number);
  if (error != std::errc{} || end != last || !(number >= 0 && number <= most)) {
    return std::nullopt;
  }
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(number));
}

// The trial whose queries, in this thread, answer from the last refresh.
thread_local const TrialState* held_still = nullptr;

/// Tells whether a step is in one of several ranges, given the steps that there are.
class RangeFilter {
 public:
  RangeFilter(std::span<const StepRange> ranges, std::span<const std::pair<std::int64_t, std::size_t>> steps) {
    for (const StepRange& range : ranges) {
      Bounds bounds;
      if (range.first()) {
        bounds.first = range.first()->value;
      }
      if (range.end()) {
        bounds.last = range.end()->value == INT64_MIN ? INT64_MIN : range.end()->value - 1;
        bounds.empty = range.end()->value == INT64_MIN;
      }
      if (range.newest()) {
        const std::size_t count = std::min(*range.newest(), steps.size());
        bounds.empty = count == 0;
        bounds.first = count == 0 ? 0 : steps[steps.size() - count].first;
      }
      if (range.oldest()) {
        const std::size_t count = std::min(*range.oldest(), steps.size());
        bounds.empty = count == 0;
        bounds.last = count == 0 ? 0 : steps[count - 1].first;
      }
      bounds_.push_back(bounds);
    }
  }

  [[nodiscard]] bool holds(std::int64_t step) const noexcept {
    return std::any_of(bounds_.begin(), bounds_.end(), [step](const Bounds& bounds) {
      return !bounds.empty && step >= bounds.first && step <= bounds.last;
    });
  }

 private:
  struct Bounds {
    std::int64_t first = INT64_MIN;
    std::int64_t last = INT64_MAX;
    bool empty = false;
  };
  std::vector<Bounds> bounds_;
};

/// The files of one step, in their order.
std::vector<layout::StepFile> files_at(const SortedChunks<layout::StepFile>& files, std::int64_t step) {
  std::vector<layout::StepFile> found;
  for (auto it = files.partition_point([step](const layout::StepFile& file) { return file.step < step; });
       it != files.end() && it->step == step; ++it) {
    found.push_back(*it);
  }
  return found;
}

bool was_read(const Snapshot& snapshot, const layout::StepFile& file) {
  const auto it = snapshot.read.partition_point([&](const layout::StepFile& other) { return other < file; });
  return it != snapshot.read.end() && *it == file;
}

/// Whether a step has files that were read and list nothing: then it is none.
bool lists_nothing(const Snapshot& snapshot, std::int64_t step) {
  if (snapshot.find(step) != nullptr) {
    return false;
  }
  const auto it = snapshot.read.partition_point([&](const layout::StepFile& other) { return other.step < step; });
  return it != snapshot.read.end() && it->step == step;
}

const layout::StepFile& file_of(const layout::StepRow& row) noexcept { return row.file; }
const layout::StepFile& file_of(const layout::StepFile& file) noexcept { return file; }

/// Of rows or files, by worker.
template <class Items>
std::size_t distinct_workers(const Items& items) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    count += i == 0 || file_of(items[i]).worker != file_of(items[i - 1]).worker ? 1 : 0;
  }
  return count;
}

}  // namespace

WaitLimits WaitLimits::from_environment() {
  WaitLimits limits;
  limits.end_delay = seconds_from_environment("SMDEBUG_TRAINING_END_DELAY_REFRESH").value_or(limits.end_delay);
  limits.missing_event_file_retries =
      number_from_environment("SMDEBUG_MISSING_EVENT_FILE_RETRY_LIMIT").value_or(limits.missing_event_file_retries);
  return limits;
}

HoldStill::HoldStill(const TrialState& state) noexcept : before_(held_still) { held_still = &state; }
HoldStill::~HoldStill() { held_still = before_; }

TrialState::TrialState(const std::string& path, TrialOptions options, Environment environment)
    : options_(std::move(options)),
      environment_(std::move(environment)),
      limits_(WaitLimits::from_environment()),
      auto_refresh_(options_.auto_refresh),
      layout_(layout::debugger_layout()) {
  window_ = options_.incomplete_step_wait_window.value_or(
      number_from_environment("SMDEBUG_INCOMPLETE_STEP_WAIT_WINDOW").value_or(default_window));
  ranges_.push_back(options_.range_steps);
  open_storage(path);
  name_ = options_.name.empty() ? path : options_.name;
  make_snapshot();
}

void TrialState::open_storage(const std::string& path) {
  if (path.empty()) {
    throw InvalidArgument("the path of a trial is empty");
  }
  const auto open = [this](const std::string& place) {
    auto opened = environment_.open       ? environment_.open(place)
                  : is_remote_path(place) ? storage::open_remote(place, options_.remote, options_.jobs)
                                          : storage::open_local(place);
    if (!opened) {
      Problem problem = std::move(opened.problem());
      problem.file = place;
      throw ReadError(std::move(problem));
    }
    return std::move(*opened);
  };
  storage_ = open(path);
  constexpr std::string_view inner = "debug-output";
  if (!storage_->exists("collections") && !storage_->exists(layout::index_folder) &&
      !storage_->exists(layout::events_folder) && storage_->exists(inner)) {
    storage_ = open(path + (path.ends_with('/') ? "" : "/") + std::string(inner));
    opening_notes_.push_back({ProblemKind::warning,
                              {},
                              {},
                              "'" + printable(path) + "' is no trial itself; its folder debug-output is read"});
  }
}

std::unique_ptr<storage::Storage> TrialState::open_to_watch(const std::string& path) {
  auto outer = storage::open_local(path);
  if (!outer) {
    return nullptr;
  }
  if (auto inner = storage::open_local(path + "/debug-output"); inner && !(*outer)->exists(layout::index_folder)) {
    return *std::move(inner);
  }
  return *std::move(outer);
}

unsigned TrialState::jobs(unsigned wanted) const noexcept {
  const unsigned asked = wanted != 0 ? wanted : options_.jobs;
  const unsigned usual = storage_->remote() ? storage_->parallelism() : default_jobs();
  return std::max(1u, std::min(asked != 0 ? asked : usual, storage_->parallelism()));
}

std::shared_ptr<const Snapshot> TrialState::current() const {
  const std::lock_guard lock(mutex_);
  return latest_;
}

std::shared_ptr<const Snapshot> TrialState::snapshot() {
  if (auto_refresh_.load(std::memory_order_relaxed) && held_still != this) {
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
    return;  // nothing is written any more
  }
  make_snapshot();
}

std::shared_ptr<const Snapshot> TrialState::look() {
  const auto require_there = [this] {
    if (Status there = storage_->revisit(); !there) {
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
  for (const Problem& problem : snapshot.listing->notes) {
    if (problem.kind == ProblemKind::access_denied || problem.kind == ProblemKind::network) {
      Problem whole = problem;
      whole.file = path() + "/" + whole.file;
      throw ReadError(std::move(whole));
    }
  }
}

void TrialState::cover(const StepRange& range) {
  {
    const std::lock_guard lock(loading_);
    ranges_.push_back(range);
    ranges_changed_ = true;
  }
  make_snapshot();
}

void TrialState::notice(Problem problem) {
  std::string text = to_string(problem);
  const std::lock_guard lock(mutex_);
  if (noticed_texts_.insert(std::move(text)).second) {
    noticed_.push_back(std::move(problem));
  }
}

void TrialState::throw_missing_collections() const {
  std::vector<std::string> there;
  std::size_t others = 0;
  const auto entries = storage_->list("");
  if (entries) {
    for (const storage::DirEntry& entry : *entries) {
      if (there.size() < 8) {
        there.push_back("'" + printable(entry.name) + "'");
      } else {
        ++others;
      }
    }
  }
  std::sort(there.begin(), there.end());
  std::string list;
  for (const std::string& name : there) {
    list += (list.empty() ? "" : ", ") + name;
  }
  if (others > 0) {
    list += " and " + std::to_string(others) + " more";
  }
  const bool ended = layout_->ended(*storage_);
  throw MissingCollectionFiles(
      "'" + printable(path()) + "' has no collection files (it holds " + (list.empty() ? "nothing" : list) + "); " +
          (ended ? "the job has ended: nothing was saved, check the hook configuration"
                 : "if the job is still starting, wait for it with smd-wait; else check the path"),
      path(), ended);
}

void TrialState::make_snapshot() {
  const std::lock_guard lock(loading_);
  try {
    load_snapshot();
  } catch (const std::bad_alloc&) {
    throw ReadError({ProblemKind::io, std::string(layout::index_folder), {}, "memory ran out"});
  }
}

void TrialState::load_snapshot() {
  const auto now = clock().now();
  std::shared_ptr<const Snapshot> before = current();
  if (const std::uint64_t generation = storage_->generation(); generation != generation_) {
    generation_ = generation;
    before = nullptr;  // another directory took the trial's place
    quiet_since_.reset();
    half_written_.clear();
  }

  auto next = std::make_shared<Snapshot>();
  next->generation = generation_;
  const std::optional<std::int64_t> since =
      before && !before->ended && storage_->remote() ? first_open_step(*before) : std::nullopt;
  // A round trip less where each costs time; what cannot be started waits until it is asked for.
  using Collections = std::shared_ptr<const layout::CollectionsInfo>;
  auto reading = std::async(
      storage_->remote() && !before ? std::launch::async | std::launch::deferred : std::launch::deferred,
      [&]() -> Collections { return layout_->collections(*storage_, before ? before->collections : nullptr); });
  auto listed = layout_->list(*storage_, before ? before->listing.get() : nullptr, since, now);
  if (listed && since && listed->ended) {
    // Once all of it, for what came late before the end.
    listed = layout_->list(*storage_, before->listing.get(), std::nullopt, now);
  }
  if (!listed) {
    throw ReadError(std::move(listed.problem()));
  }
  next->listing = std::make_shared<layout::Listing>(std::move(*listed));
  next->ended = next->listing->ended;
  next->collections = reading.get();
  if (const layout::CollectionsInfo& collections = *next->collections; !collections.found) {
    if (!collections.problems.empty() && collections.problems.front().kind != ProblemKind::note) {
      throw ReadError(collections.problems.front());
    }
    throw_missing_collections();
  }
  if (before) {
    next->catalog = before->catalog;
    next->read = before->read;
    next->steps = before->steps;
    next->claims = before->claims;
    next->row_of_path = before->row_of_path;
    next->failures = before->failures;
    next->notes = before->notes;
    next->all_wrote = before->all_wrote;
    next->all_wrote_by = before->all_wrote_by;
    next->waiting = before->waiting;
    next->undecided = before->undecided;
  }
  const bool afresh = before == nullptr || ranges_changed_;
  std::vector<std::int64_t> touched = load(*next, before == nullptr);
  for (const layout::StepFile& file : next->listing->fresh) {
    touched.push_back(file.step);
  }
  find_last_complete(*next, afresh ? std::nullopt : std::optional(std::move(touched)));
  const bool news = !next->listing->fresh.empty();
  if (!next->ended) {
    quiet_since_.reset();
  } else if (!quiet_since_ || news) {
    quiet_since_ = now;
  } else {
    next->settled = now - *quiet_since_ >= limits_.end_delay;
  }
  if (next->ended && !next->settled) {
    next->due = *quiet_since_ + limits_.end_delay;
  }
  for (const auto& [file, half] : half_written_) {
    if (const auto given_up = half.since + limits_.half_written; given_up > now) {
      next->due = std::min(next->due.value_or(given_up), given_up);
    }
  }
  if (options_.strict) {
    for (const auto& failure : next->failures) {
      if (failure.problem.kind == ProblemKind::damaged) {
        throw IndexReaderException(failure.problem);
      }
    }
  }
  ranges_changed_ = false;
  {
    const std::lock_guard again_lock(again_mutex_);
    again_.clear();
  }
  const std::lock_guard latest_lock(mutex_);
  latest_ = std::move(next);
}

/// The oldest of the newest steps that lacks a worker's file, else the newest step: from there on there may be news.
std::optional<std::int64_t> TrialState::first_open_step(const Snapshot& snapshot) const {
  const auto listed = listed_steps(*snapshot.listing);
  if (listed.empty()) {
    return std::nullopt;
  }
  const std::size_t needed = workers_needed(*snapshot.collections, *snapshot.listing);
  const std::size_t newest = std::min(listed.size(), std::max<std::size_t>(window_, 1));
  const auto open = std::find_if(listed.end() - static_cast<std::ptrdiff_t>(newest), listed.end(),
                                 [needed](const auto& step) { return step.second < needed; });
  return open == listed.end() ? listed.back().first : open->first;
}

/// Reads the step files in range that no earlier snapshot has read. Files that failed before are tried again. Returns
/// the steps of them all.
std::vector<std::int64_t> TrialState::load(Snapshot& snapshot, bool first) {
  const layout::Listing& listing = *snapshot.listing;
  settle_newest(listing);
  std::vector<layout::StepFile> wanted = wanted_files(snapshot, first);
  snapshot.failures.clear();
  if (wanted.empty()) {
    half_written_.clear();
    return {};
  }
  const auto now = clock().now();
  layout::LoadedSteps loaded = layout_->load(*storage_, listing, wanted, jobs(), options_.progress);
  std::vector<layout::StepFile> read;
  auto failure = loaded.failures.begin();  // in the order of `wanted`
  for (const layout::StepFile& file : wanted) {
    if (failure != loaded.failures.end() && failure->file == file) {
      ++failure;
    } else {
      read.push_back(file);
    }
  }
  std::sort(read.begin(), read.end());
  snapshot.read.merge(std::move(read), std::less<>());
  note_failures(snapshot, loaded, now);
  snapshot.notes.insert(snapshot.notes.end(), loaded.notes.begin(), loaded.notes.end());
  snapshot.add(snapshot.catalog.add(std::move(loaded)));
  std::vector<std::int64_t> steps;
  if (!first) {
    std::transform(wanted.begin(), wanted.end(), std::back_inserter(steps),
                   [](const layout::StepFile& file) { return file.step; });
  }
  return steps;
}

/// Files in range that were not read: the new ones and those that failed, unless the ranges are others than before.
std::vector<layout::StepFile> TrialState::wanted_files(const Snapshot& snapshot, bool first) const {
  const layout::Listing& listing = *snapshot.listing;
  const bool everything = std::any_of(ranges_.begin(), ranges_.end(), [](const StepRange& range) {
    return !range.first() && !range.end() && !range.newest() && !range.oldest();
  });
  // Which the oldest are may change with each new one.
  const bool counts = !everything && std::any_of(ranges_.begin(), ranges_.end(), [](const StepRange& range) {
    return range.newest() || range.oldest();
  });
  const RangeFilter filter(ranges_, counts ? listed_steps(listing) : decltype(listed_steps(listing)){});
  std::vector<layout::StepFile> wanted;
  if (first || ranges_changed_ || counts) {
    for (const layout::StepFile& file : listing.files) {
      if ((everything || filter.holds(file.step)) && (first || !was_read(snapshot, file))) {
        wanted.push_back(file);
      }
    }
    return wanted;
  }
  for (const layout::LoadedSteps::Failure& failure : snapshot.failures) {
    wanted.push_back(failure.file);
  }
  const auto failed = static_cast<std::ptrdiff_t>(wanted.size());
  for (const layout::StepFile& file : listing.fresh) {
    if (everything || filter.holds(file.step)) {
      wanted.push_back(file);
    }
  }
  std::inplace_merge(wanted.begin(), wanted.begin() + failed, wanted.end(),
                     [&](const layout::StepFile& a, const layout::StepFile& b) { return listing.before(a, b); });
  return wanted;
}

/// The newest file of a worker in a running job may be half written: over S3, or by a copying tool.
void TrialState::note_failures(Snapshot& snapshot, layout::LoadedSteps& loaded,
                               std::chrono::steady_clock::time_point now) {
  const layout::Listing& listing = *snapshot.listing;
  if (loaded.failures.empty()) {
    half_written_.clear();
    return;
  }
  const std::shared_ptr<const Snapshot> before = current();
  std::map<layout::StepFile, HalfWritten> half_written;
  for (layout::LoadedSteps::Failure& failure : loaded.failures) {
    // One that could not be read before and is gone now may yet come anew.
    if (failure.problem.kind == ProblemKind::not_found && before &&
        std::any_of(before->failures.begin(), before->failures.end(), [&](const layout::LoadedSteps::Failure& other) {
          return other.file == failure.file && other.problem.kind != ProblemKind::not_found;
        })) {
      failure.problem.kind = listing.ended ? ProblemKind::note : ProblemKind::not_yet;
      failure.problem.text = "the index file was removed";
    }
    const bool may_grow = failure.file.step == listing.newest_step[failure.file.worker] && !listing.ended;
    if (failure.problem.kind == ProblemKind::damaged && may_grow) {
      const auto seen = half_written_.find(failure.file);
      const bool same = seen != half_written_.end() && seen->second.problem == failure.problem;
      const auto since = same ? seen->second.since : now;
      half_written[failure.file] = {failure.problem, since};
      if (now - since < limits_.half_written) {
        failure.problem.kind = ProblemKind::not_yet;
      }
    }
    snapshot.failures.push_back(std::move(failure));
  }
  half_written_ = std::move(half_written);
}

/// From the first look on, the newest steps are those and all that come after them: else a step would be left out
/// whenever more than that many appear between two looks.
void TrialState::settle_newest(const layout::Listing& listing) {
  for (StepRange& range : ranges_) {
    if (const std::optional<std::size_t> count = range.newest(); count && *count > 0) {
      const auto steps = listed_steps(listing);
      range = *count >= steps.size() ? StepRange()
                                     : StepRange::between(GlobalStep(steps[steps.size() - *count].first), std::nullopt);
    }
  }
}

/// Whether as many workers as needed saved something at a listed step; nothing if that takes reading its files.
std::optional<bool> TrialState::is_complete(const Snapshot& snapshot, std::int64_t step, std::size_t needed) const {
  if (const Step* const known = snapshot.find(step)) {
    return distinct_workers(snapshot.rows_of(*known)) >= needed;
  }
  const layout::StepFile first = files_at(snapshot.listing->files, step).front();
  const auto failure =
      std::lower_bound(snapshot.failures.begin(), snapshot.failures.end(), step,
                       [](const layout::LoadedSteps::Failure& failed, std::int64_t n) { return failed.file.step < n; });
  const bool failed = failure != snapshot.failures.end() && failure->file.step == step;
  if (failed || was_read(snapshot, first)) {
    return false;  // in range, and found to list nothing
  }
  return std::nullopt;
}

/// The same for a step that is not in range; its files are read for this alone.
bool TrialState::probe_complete(const Snapshot& snapshot, std::int64_t step, std::size_t needed) const {
  const std::vector<layout::StepFile> files = files_at(snapshot.listing->files, step);
  const layout::LoadedSteps probe =
      layout_->load(*storage_, *snapshot.listing, files, storage_->remote() ? jobs() : 1, {});
  std::vector<layout::StepRow> rows;
  for (const layout::LoadedSteps::Row& row : probe.rows) {
    if (row.row.payload != no_id) {
      rows.push_back(row.row);
    }
  }
  return distinct_workers(rows) >= needed;
}

/// Whether so many workers wrote a listed step. What cannot be told so far goes to `undecided`.
bool TrialState::wrote(const Snapshot& snapshot, std::int64_t step, std::size_t needed, Probes& probes) const {
  constexpr int most_probes = 64;  // of steps out of range that turn out to be nothing: damaged files, say
  if (const std::optional<bool> complete = is_complete(snapshot, step, needed)) {
    return *complete;
  }
  if (++probes.done <= most_probes && probe_complete(snapshot, step, needed)) {
    return true;
  }
  probes.undecided.push_back(step);
  return false;
}

/// The newest step after `last` that so many workers wrote, looked for from the end; else `last`.
std::optional<std::int64_t> TrialState::newest_by(const Snapshot& snapshot, std::size_t needed,
                                                  std::optional<std::int64_t> last, Probes& probes) const {
  const SortedChunks<layout::StepFile>& files = snapshot.listing->files;
  for (auto it = files.end(); it != files.begin();) {
    const std::int64_t step = std::prev(it)->step;
    if (last && step <= *last) {
      break;
    }
    std::size_t workers = 0;
    for (std::uint32_t worker = no_id; it != files.begin() && std::prev(it)->step == step; --it) {
      workers += std::prev(it)->worker != worker ? 1 : 0;
      worker = std::prev(it)->worker;
    }
    if (workers >= needed && wrote(snapshot, step, needed, probes)) {
      return step;
    }
  }
  return last;
}

/// The steps that wait for a worker, of all that there are.
void TrialState::find_waiting(Snapshot& snapshot, std::size_t needed) const {
  Probes probes;
  snapshot.all_wrote_by = needed;
  snapshot.all_wrote = newest_by(snapshot, needed, std::nullopt, probes);
  snapshot.undecided = std::move(probes.undecided);
  const SortedChunks<layout::StepFile>& files = snapshot.listing->files;
  std::vector<std::int64_t> waiting;
  for (auto it = files.partition_point(
           [&](const layout::StepFile& file) { return snapshot.all_wrote && file.step <= *snapshot.all_wrote; });
       it != files.end(); ++it) {
    if ((waiting.empty() || waiting.back() != it->step) && !lists_nothing(snapshot, it->step)) {
      waiting.push_back(it->step);
    }
  }
  snapshot.waiting = {};
  snapshot.waiting.merge(std::move(waiting), std::less<>());
}

/// The same, of the steps that were touched since. Costs by their number, also while a worker that died lets all wait.
void TrialState::update_waiting(Snapshot& snapshot, std::vector<std::int64_t> touched) const {
  const std::size_t needed = snapshot.all_wrote_by;
  touched.insert(touched.end(), snapshot.undecided.begin(), snapshot.undecided.end());
  std::sort(touched.begin(), touched.end());
  touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
  Probes probes;
  bool fewer = false;
  std::vector<std::int64_t> waiting;
  for (auto step = touched.rbegin(); step != touched.rend(); ++step) {
    if (snapshot.all_wrote && *step <= *snapshot.all_wrote) {
      break;
    }
    if (distinct_workers(files_at(snapshot.listing->files, *step)) >= needed &&
        wrote(snapshot, *step, needed, probes)) {
      snapshot.all_wrote = *step;
      fewer = true;
      break;
    }
    if (lists_nothing(snapshot, *step)) {
      const auto place = snapshot.waiting.partition_point([&](std::int64_t other) { return other < *step; });
      fewer = fewer || (place != snapshot.waiting.end() && *place == *step);
    } else {
      waiting.push_back(*step);
    }
  }
  snapshot.undecided = std::move(probes.undecided);
  if (fewer) {
    const auto first = snapshot.waiting.partition_point(
        [&](std::int64_t step) { return snapshot.all_wrote && step <= *snapshot.all_wrote; });
    std::copy_if(first, snapshot.waiting.end(), std::back_inserter(waiting),
                 [&](std::int64_t step) { return !lists_nothing(snapshot, step); });
    snapshot.waiting = {};
  }
  std::sort(waiting.begin(), waiting.end());
  waiting.erase(std::unique(waiting.begin(), waiting.end()), waiting.end());
  snapshot.waiting.merge(std::move(waiting), std::less<>());
}

/// `touched`: steps of which files were listed or read since the snapshot that this one began as; nothing if it began
/// as none.
void TrialState::find_last_complete(Snapshot& snapshot, std::optional<std::vector<std::int64_t>> touched) const {
  const std::size_t needed = workers_needed(*snapshot.collections, *snapshot.listing);
  if (touched && snapshot.all_wrote_by == needed) {
    update_waiting(snapshot, *std::move(touched));
  } else {
    find_waiting(snapshot, needed);
  }
  const std::size_t passed = given_up(snapshot.waiting.size(), window_);
  snapshot.passed = passed == 0 ? snapshot.all_wrote : snapshot.waiting.nth(passed - 1);
  Probes probes;
  snapshot.last_complete = snapshot.ended ? newest_by(snapshot, 1, snapshot.passed, probes) : snapshot.passed;
}

std::vector<Problem> TrialState::problems() const {
  std::shared_ptr<const Snapshot> snapshot;
  std::vector<Problem> problems = opening_notes_;
  std::vector<Problem> noticed;
  {
    const std::lock_guard lock(mutex_);
    snapshot = latest_;
    noticed = noticed_;
  }
  const layout::CollectionsInfo& collections = *snapshot->collections;
  const auto append = [&problems](const std::vector<Problem>& more) {
    problems.insert(problems.end(), more.begin(), more.end());
  };
  append(collections.problems);
  const std::int64_t expected = collections.num_workers.value_or(1);
  const auto there = static_cast<std::int64_t>(collections.workers.size());
  if (expected <= 0) {
    problems.push_back({ProblemKind::warning,
                        std::string(layout::collections_folder),
                        {},
                        "the collections name " + std::to_string(expected) +
                            " workers; steps count as complete when all workers that wrote anything wrote them"});
  } else if (there < expected) {
    problems.push_back({ProblemKind::warning,
                        std::string(layout::collections_folder),
                        {},
                        std::to_string(there) + " of " + std::to_string(expected) + " workers " +
                            (there == 1 ? "has" : "have") + " a collections file" + (snapshot->ended ? "" : " so far") +
                            "; what is there is read"});
  }
  append(snapshot->listing->notes);
  for (const auto& failure : snapshot->failures) {
    problems.push_back(failure.problem);
  }
  append(snapshot->notes);
  append(noticed);
  return problems;
}

TensorLocation TrialState::location(const Snapshot& snapshot, const layout::StepRow& row,
                                    std::uint32_t position) const {
  const layout::Payload& payload = snapshot.catalog.payload(row);
  TensorLocation location;
  location.file = row.event_file == no_id ? layout_->event_path(*snapshot.listing, row.file)
                                          : std::string(snapshot.catalog.paths()[row.event_file]);
  location.offset = payload.start(position);
  location.length = payload.lengths[position];
  return location;
}

std::optional<TensorEntry> TrialState::entry(const Snapshot& snapshot, const layout::StepRow& row,
                                             std::uint32_t tensor) const {
  const Catalog& catalog = snapshot.catalog;
  const std::span<const Item> items = catalog.items(row).of(tensor);
  const ShapeList* const shapes = catalog.shapes(row);
  const ShapeList::Saved* const shape = shapes == nullptr ? nullptr : shapes->of(tensor);
  if (items.empty() && shape == nullptr) {
    return std::nullopt;
  }
  TensorEntry entry;
  entry.tensor = catalog.tensors()[tensor];
  entry.worker = snapshot.worker(row);
  entry.step = GlobalStep(row.file.step);
  entry.mode = row.mode;
  entry.mode_step = ModeStep(row.mode_step);
  for (const Item& item : items) {
    TensorLocation place = location(snapshot, row, item.position);
    if (item.reduction == no_id) {
      entry.value = std::move(place);
    } else {
      entry.reductions.push_back({std::string(catalog.reductions()[item.reduction]), std::move(place)});
    }
  }
  std::sort(entry.reductions.begin(), entry.reductions.end(),
            [](const SavedReduction& a, const SavedReduction& b) { return a.name < b.name; });
  if (shape != nullptr) {
    entry.shape = shape->shape;
    if (shape->original != no_id) {
      entry.original_name = std::string(catalog.originals()[shape->original]);
    }
  }
  return entry;
}

/// Whether the worker that writes an event file has written a later one: then what is not there will not come.
bool TrialState::writer_went_on(const TensorLocation& location, const Snapshot& snapshot) const {
  const layout::StepRow* const own = row_naming(location.file, snapshot);
  if (own == nullptr) {
    return false;
  }
  constexpr int enough = 4;  // the newest ones: a copying tool may lag by a few files
  constexpr int most_steps = 256;
  const layout::Listing& listing = *snapshot.listing;
  int looked = 0;
  int steps = 0;
  // Step by step from the newest, whatever the number of workers. Of files that were not read only the names tell.
  for (auto it = listing.files.end(); it != listing.files.begin() && looked < enough && steps < most_steps; ++steps) {
    const std::int64_t step = std::prev(it)->step;
    if (step <= own->file.step) {
      break;
    }
    const auto first = listing.files.partition_point([step](const layout::StepFile& file) { return file.step < step; });
    const std::uint32_t rank = listing.worker_rank[own->file.worker];
    const auto mine = listing.files.partition_point([&](const layout::StepFile& file) {
      return file.step < step || (file.step == step && listing.worker_rank[file.worker] < rank);
    });
    it = first;
    if (mine == listing.files.end() || mine->step != step || mine->worker != own->file.worker) {
      continue;
    }
    std::string event_file = layout_->event_path(listing, *mine);
    if (const Step* const known = snapshot.find(step)) {
      const std::span<const layout::StepRow> rows = snapshot.rows_of(*known);
      const auto row =
          std::find_if(rows.begin(), rows.end(), [&](const layout::StepRow& other) { return other.file == *mine; });
      if (row != rows.end()) {
        if (snapshot.catalog.payload(*row).count == 0) {
          continue;
        }
        event_file = this->location(snapshot, *row, 0).file;
      }
    }
    ++looked;
    if (storage_->exists(event_file)) {
      return true;
    }
  }
  return false;
}

/// A row whose records lie in an event file of that name; null if there is none.
const layout::StepRow* TrialState::row_naming(std::string_view event_file, const Snapshot& snapshot) const {
  const std::uint32_t path = snapshot.catalog.paths().find(event_file);
  if (path != no_id && snapshot.row_of_path && path < snapshot.row_of_path->size() &&
      (*snapshot.row_of_path)[path].payload != no_id) {
    return &(*snapshot.row_of_path)[path];
  }
  const std::optional<std::int64_t> number = layout::event_file_step(event_file);
  const Step* const step = number ? snapshot.find(*number) : nullptr;
  if (step == nullptr) {
    return nullptr;
  }
  std::string_view part = event_file.substr(event_file.rfind('/') + 1);
  part.remove_prefix(part.find('_') + 1);
  part = part.substr(0, part.rfind('.'));
  const std::uint32_t worker = snapshot.listing->worker_parts.find(part);
  if (worker == no_id) {
    return nullptr;
  }
  // Rows of a step stand in the order of workers' names.
  const std::vector<std::uint32_t>& ranks = snapshot.listing->worker_rank;
  const std::span<const layout::StepRow> rows = snapshot.rows_of(*step);
  auto row = std::lower_bound(
      rows.begin(), rows.end(), ranks[worker],
      [&](const layout::StepRow& other, std::uint32_t rank) { return ranks[other.file.worker] < rank; });
  for (; row != rows.end() && row->file.worker == worker; ++row) {
    if (row->event_file == no_id && snapshot.catalog.payload(*row).count > 0 &&
        layout_->event_path(*snapshot.listing, row->file) == event_file) {
      return &*row;
    }
  }
  return nullptr;
}

Problem TrialState::judge(Problem problem, const TensorLocation& location, const Snapshot& snapshot) const {
  if (problem.kind == ProblemKind::damaged && !problem.offset) {
    // The file could not even be opened: its name is at fault, and that stands in an index file.
    if (const layout::StepRow* const row = row_naming(location.file, snapshot)) {
      problem.text = "its event file '" + printable(location.file) + "' is refused: " + problem.text;
      problem.file = snapshot.listing->path(row->file);
    }
    return problem;
  }
  if (problem.kind != ProblemKind::not_found && problem.kind != ProblemKind::not_yet) {
    return problem;
  }
  const bool missing = problem.kind == ProblemKind::not_found;
  const bool gone_on = snapshot.ended || writer_went_on(location, snapshot);
  problem.file = location.file;
  if (missing) {
    problem.offset.reset();
    problem.text = gone_on ? "the event file is missing" : "the event file is not there yet";
    problem.kind = gone_on ? ProblemKind::absent : ProblemKind::not_yet;
  } else {
    problem.kind = gone_on ? ProblemKind::damaged : ProblemKind::not_yet;
  }
  return problem;
}

std::string describe(StepKey key) {
  const std::string number = std::to_string(key.number);
  return key.mode == Mode::global ? "step " + number : std::string(to_string(key.mode)) + " step " + number;
}

void throw_no_step(const Snapshot& snapshot, StepKey key) {
  if (snapshot.state(key) == StepState::not_yet_available) {
    throw StepNotYetAvailable(describe(key) + " is not there yet; the job is still running", key);
  }
  throw StepUnavailable(describe(key) + " was not saved", key);
}

}  // namespace smd::detail::trial
