// SPDX-License-Identifier: Apache-2.0
#include "trial/trial_state.hpp"

#include "base/parallel.hpp"
#include "layout/debugger/trial_paths.hpp"
#include "storage/s3_module.hpp"
#include "text/escape.hpp"

#include <algorithm>
#include <future>
#include <new>
#include <utility>

namespace smd::detail::trial {

namespace {

// The innermost of this thread.
thread_local const HoldStill* held_still = nullptr;

/// The last part of a path, `job` of `s3://bucket/job/`; the path itself if it has no parts.
std::string last_part(std::string_view path) {
  const std::size_t end = path.find_last_not_of('/');
  if (end == std::string_view::npos) {
    return std::string(path);
  }
  const std::string_view whole = path.substr(0, end + 1);
  return std::string(whole.substr(whole.rfind('/') + 1));
}

}  // namespace

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

TrialState::TrialState(const std::string& path, TrialOptions options, Environment environment)
    : options_(std::move(options)),
      environment_(std::move(environment)),
      limits_(WaitLimits::from_environment()),
      auto_refresh_(options_.auto_refresh),
      layout_(layout::debugger_layout()) {
  window_ = options_.incomplete_step_wait_window.value_or(limits_.incomplete_steps);
  ranges_.push_back(options_.range_steps);
  options_.remote.stop = [own = options_.remote.stop, limit = look_limit_] { return (own && own()) || limit->over(); };
  open_storage(path);
  name_ = options_.name.empty() ? last_part(path) : options_.name;
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
    return;  // nothing is written any more
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
    // Whoever replaces a trial moves it away first, and nothing tells when the new one is there.
    const std::lock_guard lock(mutex_);
    gone_since_ = gone_since_.value_or(now);
    if (error.problem.kind != ProblemKind::not_found || storage_->remote() || now - *gone_since_ >= patience) {
      throw;
    }
  }
  auto old = std::make_shared<Snapshot>(*current());
  old->due = now + pause;
  return old;
}

void TrialState::LookLimit::set(std::stop_token new_stop,
                                std::optional<std::chrono::steady_clock::time_point> new_end) {
  const std::lock_guard lock(mutex);
  stop = std::move(new_stop);
  end = new_end;
}

bool TrialState::LookLimit::over() {
  const std::lock_guard lock(mutex);
  return stop.stop_requested() || (end && std::chrono::steady_clock::now() >= *end);
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
  for (const Problem& problem : snapshot.listing->notes.kept()) {
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
  if (noticed_.full(problem.kind)) {
    if (!noticed_texts_.contains(text)) {
      noticed_.count(problem.kind);
    }
  } else if (noticed_texts_.insert(std::move(text)).second) {
    noticed_.add(std::move(problem));
  }
}

void TrialState::throw_missing_collections() const {
  std::vector<std::string> there;
  std::size_t others = 0;
  (void)storage_->list_parts("",
                             [&](const std::vector<storage::DirEntry>& entries) {  // what cannot be listed is not named
                               for (const storage::DirEntry& entry : entries) {
                                 if (there.size() < 8) {
                                   there.push_back("'" + printable(entry.name) + "'");
                                 } else {
                                   ++others;
                                 }
                               }
                             });
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

/// Of what a look found that was stopped, some is missing: the snapshot stays as it was.
void TrialState::require_not_stopped() const {
  if (storage_->remote() && options_.remote.stop()) {
    throw ReadError({ProblemKind::stopped, path(), {}, "the request was stopped before the server had answered"});
  }
}

void TrialState::load_snapshot() {
  const auto now = clock().now();
  std::shared_ptr<const Snapshot> before = current();
  auto next = std::make_shared<Snapshot>();
  next->generation = storage_->generation();
  if (before && before->generation != next->generation) {
    before = nullptr;  // another directory took the trial's place
    quiet_since_.reset();
    half_written_.clear();
  }
  const std::optional<std::int64_t> since =
      before && !before->ended && storage_->remote() ? first_open_step(*before) : std::nullopt;
  // A round trip less where each costs time; what cannot be started waits until it is asked for.
  using Collections = std::shared_ptr<const layout::CollectionsInfo>;
  auto reading = std::async(
      storage_->remote() && !before ? std::launch::async | std::launch::deferred : std::launch::deferred,
      [&]() -> Collections { return layout_->collections(*storage_, before ? before->collections : nullptr); });
  auto listed = layout_->list(*storage_, before ? before->listing.get() : nullptr, since, now, jobs());
  if (listed && since && listed->ended) {
    // Once all of it, for what came late before the end.
    listed = layout_->list(*storage_, before->listing.get(), std::nullopt, now, jobs());
  }
  if (!listed) {
    throw ReadError(std::move(listed.problem()));
  }
  next->listing = std::make_shared<layout::Listing>(std::move(*listed));
  next->ended = next->listing->ended;
  next->collections = reading.get();
  require_not_stopped();
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
  require_not_stopped();
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

std::vector<Problem> TrialState::problems() const {
  std::shared_ptr<const Snapshot> snapshot;
  std::vector<Problem> problems = opening_notes_;
  std::vector<Problem> noticed;
  {
    const std::lock_guard lock(mutex_);
    snapshot = latest_;
    noticed = noticed_.all();
  }
  const layout::CollectionsInfo& collections = *snapshot->collections;
  const auto append = [&problems](const std::vector<Problem>& more) {
    problems.insert(problems.end(), more.begin(), more.end());
  };
  append(collections.problems);
  if (auto missing = missing_collections_files(*snapshot)) {
    problems.push_back(std::move(*missing));
  }
  append(snapshot->listing->notes.all());
  for (const auto& failure : snapshot->failures) {
    problems.push_back(failure.problem);
  }
  append(snapshot->notes.all());
  append(noticed);
  return problems;
}

std::string TrialState::event_path(const Snapshot& snapshot, const layout::StepRow& row) const {
  return row.event_file == no_id ? layout_->event_path(*snapshot.listing, row.file)
                                 : std::string(snapshot.catalog.paths()[row.event_file]);
}

TensorLocation TrialState::location(const Snapshot& snapshot, const layout::StepRow& row,
                                    std::uint32_t position) const {
  const layout::Payload& payload = snapshot.catalog.payload(row);
  TensorLocation location;
  location.file = event_path(snapshot, row);
  location.offset = payload.start(position);
  location.length = payload.lengths[position];
  return location;
}

std::optional<TensorEntry> TrialState::entry(const Snapshot& snapshot, const layout::StepRow& row,
                                             std::uint32_t tensor) const {
  TensorEntry entry;
  return fill(snapshot, row, tensor, event_path(snapshot, row), entry) ? std::optional(std::move(entry)) : std::nullopt;
}

bool TrialState::fill(const Snapshot& snapshot, const layout::StepRow& row, std::uint32_t tensor,
                      const std::string& event_path, TensorEntry& entry) const {
  const Catalog& catalog = snapshot.catalog;
  const std::span<const Item> items = catalog.items(row).of(tensor);
  const ShapeList* const shapes = catalog.shapes(row);
  const ShapeList::Saved* const shape = shapes == nullptr ? nullptr : shapes->of(tensor);
  if (items.empty() && shape == nullptr) {
    return false;
  }
  const layout::Payload& payload = catalog.payload(row);
  entry.reductions.clear();
  entry.shape.reset();
  entry.original_name.reset();
  entry.tensor = catalog.tensors()[tensor];
  entry.worker = snapshot.worker(row);
  entry.step = GlobalStep(row.file.step);
  entry.mode = row.mode;
  entry.mode_step = ModeStep(row.mode_step);
  bool has_value = false;
  for (const Item& item : items) {
    TensorLocation* place = nullptr;
    if (item.reduction == no_id) {
      has_value = true;
      place = entry.value ? &*entry.value : &entry.value.emplace();
    } else {
      entry.reductions.push_back({std::string(catalog.reductions()[item.reduction]), {}});
      place = &entry.reductions.back().location;
    }
    place->file = event_path;
    place->offset = payload.start(item.position);
    place->length = payload.lengths[item.position];
  }
  if (!has_value) {
    entry.value.reset();
  }
  std::sort(entry.reductions.begin(), entry.reductions.end(),
            [](const SavedReduction& a, const SavedReduction& b) { return a.name < b.name; });
  if (shape != nullptr) {
    entry.shape = shape->shape;
    if (shape->original != no_id) {
      entry.original_name = std::string(catalog.originals()[shape->original]);
    }
  }
  return true;
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

void throw_unavailable(const Snapshot& snapshot, StepKey key, bool over) {
  if (over && !snapshot.goes_beyond(key)) {
    throw NoMoreData(describe(key) + " will not come: the job has ended before it", key);
  }
  throw StepUnavailable(describe(key) + " was not saved, and later ones were", key);
}

}  // namespace smd::detail::trial
