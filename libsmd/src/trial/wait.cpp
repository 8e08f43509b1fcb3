// SPDX-License-Identifier: Apache-2.0
// Waits for steps, for a condition, and for a trial to be made; follows the steps of a trial.
#include "text/path.hpp"
#include "trial/trial_state.hpp"

#include <smd/error.hpp>
#include <smd/follow.hpp>

#include <boost/container/flat_set.hpp>

#include <filesystem>
#include <system_error>

namespace smd::detail::trial {

namespace {

/// When a trial is watched. From the first pause on, which then ends at once: the look that follows sees what changed
/// before. A watch that is not needed is not made: the system takes milliseconds to close one.
enum class Watching : std::uint8_t { from_the_start, from_the_first_pause };

using Time = std::chrono::steady_clock::time_point;

/// Returns `time + by`; the end of time if that is earlier.
Time later(Time time, std::chrono::nanoseconds by) noexcept {
  return by < Time::max() - time ? time + by : Time::max();
}

/// Returns a storage's watch, or one that polls if it has none.
std::unique_ptr<storage::Watch> watch_of(storage::Storage& storage, std::chrono::milliseconds interval,
                                         const storage::WatchScope& scope) {
  if (std::unique_ptr<storage::Watch> watch = storage.watch(interval, scope)) {
    return watch;
  }
  return storage::polled_watch(interval);
}

/// Sleeps until there may be something new. Must be made before the first look, so that no change is missed.
class Waiter {
 public:
  /// `state` must outlive this.
  Waiter(TrialState& state, const WaitOptions& options, Watching watching)
      : clock_(state.clock()),
        options_(options),
        interval_(
            std::max(options.interval.value_or(state.storage().default_interval()), std::chrono::milliseconds(1))),
        quiet_since_(clock_.now()),
        state_(&state) {
    if (watching == Watching::from_the_start) {
      watch(watch_of(state.storage(), interval_, state.layout().watched()));
    }
    plan_looks(state.storage().remote());
  }

  /// For a trial that does not exist yet: `watch` reports when to try again.
  Waiter(const Clock& clock, std::unique_ptr<storage::Watch> watch, WaitOptions options, bool remote)
      : clock_(clock), options_(std::move(options)), quiet_since_(clock_.now()) {
    this->watch(std::move(watch));
    plan_looks(remote);
  }

  /// Sleeps until something may have changed, `due`, the deadline, the end of `WaitOptions::idle`, or a request to
  /// stop.
  void pause(std::optional<Time> due) {
    if (stopped()) {
      return;
    }
    if (!watch_) {
      watch(watch_of(state_->storage(), interval_, state_->layout().watched()));
      return;
    }
    Time until = std::min(options_.deadline.value_or(Time::max()), due.value_or(Time::max()));
    if (last_look_ && clock_.now() < *last_look_) {
      until = std::min(until, *last_look_);
    }
    if (options_.idle) {
      until = std::min(until, later(quiet_since_, *options_.idle));
    }
    watch_->wait_until(until);
  }

  [[nodiscard]] bool stopped() const noexcept { return options_.stop.stop_requested(); }

  /// Returns why the wait ends now. Nullopt if it goes on.
  [[nodiscard]] std::optional<WaitOutcome> over() const noexcept {
    return stopped() ? std::optional(WaitOutcome::stopped) : out_of_time();
  }
  /// Returns which limit of time has passed. Nullopt if none has.
  [[nodiscard]] std::optional<WaitOutcome> out_of_time() const noexcept {
    const Time now = clock_.now();
    if (options_.deadline && now >= *options_.deadline) {
      return WaitOutcome::timed_out;
    }
    return options_.idle && now - quiet_since_ >= *options_.idle ? std::optional(WaitOutcome::idle) : std::nullopt;
  }

  /// Restarts `WaitOptions::idle`.
  void saw_step() noexcept { quiet_since_ = clock_.now(); }
  [[nodiscard]] std::chrono::milliseconds interval() const noexcept { return interval_; }
  /// @pre The trial is watched.
  [[nodiscard]] std::string method() const { return watch_->method(); }
  /// See Watch::quiet. False before the trial is watched.
  [[nodiscard]] bool quiet() const noexcept { return watch_ && watch_->quiet(); }

  /// `TrialState::look`, which ends with the wait. Null if the wait ended; `over` returns why.
  /// @throws as `look`; ReadError of kind stopped if `RemoteOptions::stop` ended it for another reason.
  std::shared_ptr<const Snapshot> look(TrialState& state) const {
    try {
      std::optional<Time> end = end_;
      if (options_.idle && options_.idle->count() > 0) {
        const Time idle_end = later(clock_.now(), *options_.idle);
        end = std::min(end.value_or(idle_end), idle_end);
      }
      return state.look_until(options_.stop, end);
    } catch (const ReadError& error) {
      if (error.problem.kind != ProblemKind::stopped || !over()) {
        throw;
      }
      return nullptr;
    }
  }

 private:
  void plan_looks(bool remote) {
    constexpr std::chrono::seconds time_for_answer{1};
    const Time now = clock_.now();
    if (!options_.deadline || *options_.deadline <= now) {
      return;
    }
    end_ = options_.deadline;
    if (remote) {
      last_look_ = *end_ - std::min<Time::duration>(time_for_answer, (*end_ - now) / 4);
    }
  }

  void watch(std::unique_ptr<storage::Watch> watch) {
    watch_ = std::move(watch);
    wake_.emplace(options_.stop, [to = watch_.get()] { to->wake(); });
  }

  const Clock& clock_;
  WaitOptions options_;
  std::chrono::milliseconds interval_{};  // of a trial that exists
  Time quiet_since_;
  std::optional<Time> end_;        // of requests; nullopt if the deadline passed before the first look, which is made
  std::optional<Time> last_look_;  // remote: before the deadline, to leave time for the response
  TrialState* state_ = nullptr;    // to be watched from the first pause on
  std::unique_ptr<storage::Watch> watch_;
  std::optional<std::stop_callback<std::function<void()>>> wake_;
};

}  // namespace

}  // namespace smd::detail::trial

namespace smd {

using detail::trial::HoldStill;
using detail::trial::later;
using detail::trial::Snapshot;
using detail::trial::Step;
using detail::trial::Time;
using detail::trial::Waiter;
using detail::trial::watch_of;
using detail::trial::Watching;

namespace {

/// Calls `done(snapshot, due)` after each look until it returns true; it may set `due` to an earlier time for the next
/// look. Whenever further steps count as complete, looks again at once: a listing made while files are renamed into a
/// folder may show a later file and miss an earlier one, so that the earlier step appears to be skipped.
template <class Done>
WaitOutcome wait(detail::trial::TrialState& state, const WaitOptions& options, Done&& done) {
  Waiter waiter(state, options, Watching::from_the_first_pause);
  std::optional<std::int64_t> passed;
  while (true) {
    const std::shared_ptr<const Snapshot> snapshot = waiter.look(state);
    if (!snapshot) {
      return waiter.over().value_or(WaitOutcome::stopped);
    }
    std::optional<Time> due = snapshot->due;
    if (done(*snapshot, due)) {
      return WaitOutcome::reached;
    }
    if (std::exchange(passed, snapshot->passed) != snapshot->passed) {
      waiter.saw_step();
      if (!snapshot->settled) {
        continue;
      }
    }
    if (snapshot->settled) {
      return WaitOutcome::ended;
    }
    if (const std::optional<WaitOutcome> over = waiter.over()) {
      return *over;
    }
    state.require_readable(*snapshot);
    waiter.pause(due);
  }
}

/// Wakes when a trial may have been made: its folder, the files that it must hold, or the first line of a log.
struct BirthWatch {
  std::unique_ptr<detail::storage::Storage> storage;  // outlives the waiter's watch of it
  std::optional<Waiter> waiter;
  std::string folder;

  /// `in`: the path if it is a folder, the folder of a file, or empty if nothing is there.
  void aim(const std::string& path, const std::string& in, const WaitOptions& options) {
    const bool remote = is_remote_path(path);
    const auto interval = options.interval.value_or(std::chrono::seconds(remote ? 5 : 2));
    waiter.reset();
    storage.reset();
    if (!in.empty() && !remote) {
      if (auto opened = detail::storage::open_local(in)) {
        storage = *std::move(opened);
      }
    }
    using Scope = detail::storage::WatchScope;  // of a file: not the folders beside it, which may be many
    const Scope scope = in == path ? Scope{.folders = {""}} : Scope{.folders = {}, .growing = true};
    waiter.emplace(detail::system_clock(),
                   storage ? watch_of(*storage, interval, scope) : detail::storage::watch_for_path(path, interval),
                   options, remote);
    folder = in;
  }
};

// Returns whether the path can never become a folder by waiting: it is something else, or its name is too long.
bool is_no_folder(const std::string& path) {
  std::error_code unknown;
  const std::filesystem::file_status status = std::filesystem::status(path, unknown);
  return !is_remote_path(path) && (unknown == std::errc::filename_too_long ||
                                   (std::filesystem::exists(status) && !std::filesystem::is_directory(status)));
}

}  // namespace

WaitOutcome Trial::wait_for_steps(std::span<const StepKey> steps, const WaitOptions& options) const {
  using detail::trial::unavailable_tag;
  std::vector<int> doubts(steps.size(), 0);
  const WaitOutcome outcome = wait(*impl_, options, [&](const Snapshot& snapshot, std::optional<Time>& due) {
    bool all = true;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const std::string_view tag = unavailable_tag(snapshot, steps[i], snapshot.settled);
      if (!tag.empty() && tag != "StepNotYetAvailable") {
        // A step never comes only if it is skipped at two looks, and another file cannot bring it late.
        const std::optional<Time> whole = snapshot.whole.whole_at(GlobalStep(steps[i].number));
        if (snapshot.settled || (++doubts[i] >= 2 && whole <= impl_->clock().now())) {
          detail::trial::throw_unavailable(snapshot, steps[i], tag);
        }
        due = whole ? std::min(*whole, due.value_or(*whole)) : due;
      }
      all = all && tag.empty();
    }
    return all;
  });
  const std::shared_ptr<const Snapshot> last = impl_->current();
  if ((outcome == WaitOutcome::timed_out || outcome == WaitOutcome::idle) && last->ended) {
    // The job has ended, though there was no time to see that nothing more appears.
    for (const StepKey step : steps) {
      if (const std::string_view tag = unavailable_tag(*last, step, true); !tag.empty()) {
        detail::trial::throw_unavailable(*last, step, tag);
      }
    }
    return WaitOutcome::reached;
  }
  return outcome;
}

WaitOutcome Trial::wait_until(const std::function<bool()>& condition, const WaitOptions& options) const {
  return wait(*impl_, options, [&](const Snapshot&, const std::optional<Time>&) {
    const HoldStill still(*impl_);
    return condition();
  });
}

std::optional<Trial> Trial::open_when_there(const std::string& path, const TrialOptions& options,
                                            const WaitOptions& wait, WaitOutcome* outcome) {
  const auto ends = [&](WaitOutcome how) {
    if (outcome != nullptr) {
      *outcome = how;
    }
  };
  // Without a trial there are no steps, so `idle` is a deadline.
  const detail::Clock& clock = detail::system_clock();
  WaitOptions until = wait;
  until.idle.reset();
  const auto idle_end = wait.idle ? std::optional(later(clock.now(), *wait.idle)) : std::nullopt;
  const bool idle_first = idle_end && (!wait.deadline || *idle_end < *wait.deadline);
  if (idle_first) {
    until.deadline = idle_end;
  }
  const WaitOutcome time_up = idle_first ? WaitOutcome::idle : WaitOutcome::timed_out;
  const auto passed = [&] { return until.deadline && clock.now() >= *until.deadline; };
  BirthWatch birth;
  bool over = false;
  for (bool waited = false;; waited = true) {
    const bool last_try = passed();
    const bool was_file = is_no_folder(path);
    std::string folder = path;
    try {
      Trial trial = open(path, options);
      ends(WaitOutcome::reached);
      return trial;
    } catch (const MissingCollectionFiles& error) {
      if (error.ended && std::exchange(over, true)) {
        throw;
      }
      if (error.ended) {
        continue;  // they may have been written, and the job ended, after the check: try once more
      }
    } catch (const ReadError& error) {
      if (error.problem.kind == ProblemKind::stopped && (wait.stop.stop_requested() || passed())) {
        ends(wait.stop.stop_requested() ? WaitOutcome::stopped : time_up);
        return std::nullopt;
      }
      const ProblemKind kind = error.problem.kind;
      const bool is_file = is_no_folder(path);
      const bool came = is_file && !was_file;  // after `open` had looked for one
      // A file in the folder is refused. Another one may come, or this one may be written anew.
      const bool refused = text::is_inside_trial(error.problem.file, path);
      const bool final = kind != ProblemKind::not_found || is_file || (last_try && (!waited || refused));
      if (kind != ProblemKind::not_yet && !came && final) {
        throw;
      }
      std::error_code unknown;
      folder = is_file ? std::filesystem::canonical(path, unknown).parent_path().string() : std::string();
    }
    if (wait.stop.stop_requested() || last_try) {
      ends(last_try ? time_up : WaitOutcome::stopped);
      return std::nullopt;
    }
    if (!birth.waiter || birth.folder != folder) {
      birth.aim(path, folder, until);  // and try again: the trial may have been made before the watch
    } else {
      birth.waiter->pause(std::nullopt);
    }
  }
}

/// Hidden: otherwise it would be exported with its class.
struct __attribute__((visibility("hidden"))) StepFollower::Impl {
  Impl(std::shared_ptr<Trial::Impl> in_trial, FollowOptions in_options)
      : trial(std::move(in_trial)),
        options(std::move(in_options)),
        waiter(*trial, options.wait, Watching::from_the_start),
        last(options.after) {}
  ~Impl() { trial->keeps_back() = false; }

  FollowEvent next(std::optional<Time> until) {
    for (bool looked = false;; looked = true) {
      if (waiter.stopped() && !look_for_kept_back()) {
        return {.outcome = WaitOutcome::stopped};
      }
      if (snapshot) {
        if (std::optional<FollowEvent> event = take()) {
          return *std::move(event);
        }
        const bool look_at_once = unconfirmed() && !held;
        if ((looked || over() || waiter.quiet()) && !look_at_once) {
          if (over() && !held) {
            return {.outcome = WaitOutcome::ended};
          }
          if (const std::optional<WaitOutcome> up = waiter.out_of_time()) {
            if ((!held && !arrived.empty()) || look_for_kept_back()) {  // what is held back must wait no longer
              continue;
            }
            if (!hurry()) {
              return {.outcome = *up};
            }
          } else if (until && trial->clock().now() >= *until) {
            return {.outcome = WaitOutcome::timed_out};
          } else {
            trial->require_readable(*snapshot);
            waiter.pause(due(until));
          }
        }
      }
      if (!look() && !believe_end()) {
        return {.outcome = waiter.over().value_or(WaitOutcome::stopped)};
      }
    }
  }

  std::optional<FollowEvent> poll() {
    for (bool looked = false;; looked = true) {
      if (snapshot) {
        if (std::optional<FollowEvent> event = take()) {
          return event;
        }
        if (over() && !held) {
          return FollowEvent{.outcome = WaitOutcome::ended};
        }
      }
      if (looked && (held || !unconfirmed()) && !(waiter.out_of_time() && hurry())) {
        if (waiter.over() && look_for_kept_back()) {
          continue;
        }
        return std::nullopt;
      }
      if (!look() && !believe_end()) {
        return std::nullopt;
      }
    }
  }

  [[nodiscard]] std::string method() const { return waiter.method(); }

 private:
  /// A step that is complete except that some of its records are missing.
  struct Held {
    std::int64_t step;
    Time since;
    Time look_again;
    std::chrono::nanoseconds pause;
  };

  /// Before giving up: looks once more for what is kept back. Returns false if nothing is, or it cannot be read.
  [[nodiscard]] bool look_for_kept_back() { return snapshot && snapshot->listing->keeps_back && look(true); }

  /// Returns false if the wait ended during the look. `gives_up`: nothing is kept back.
  [[nodiscard]] bool look(bool gives_up = false) {
    kept_back = gives_up;
    trial->keeps_back() = !gives_up;
    const Time begun = trial->clock().now();
    std::shared_ptr<const Snapshot> next = waiter.look(*trial);
    if (!next) {
      return false;
    }
    const bool sure = waiter.quiet();
    confirmed = sure ? next->passed : snapshot ? snapshot->passed : std::nullopt;
    if (snapshot && next->generation != snapshot->generation) {  // another trial took its place
      last = options.after;
      given.clear();
      held.reset();
      arrived.clear();
      arrivals_of.reset();
      hurried = false;
      if (!sure) {
        confirmed.reset();
      }
    }
    if (snapshot && next->passed > snapshot->passed) {
      waiter.saw_step();  // it may be out of range
    }
    snapshot = std::move(next);
    looked_at = begun;
    return true;
  }

  /// Returns the next step that is complete in the current snapshot. Nullopt if there is none.
  std::optional<FollowEvent> take() {
    if (std::optional<FollowEvent> event = take_arrived(); event || !arrived.empty() || !snapshot->listing->named) {
      return event;
    }
    if (const Step* const step = late_step()) {
      return give(*step, true);
    }
    const auto step = snapshot->after(last);
    return step != snapshot->steps.end() && complete(step->number) ? give(*step, false) : std::nullopt;
  }

  /// For layouts whose steps grow: returns the rows that arrived since the last look, by step; at the first look, all
  /// rows. For others, those that arrived at steps that were returned. Nullopt if there are none, or they must wait.
  std::optional<FollowEvent> take_arrived() {
    const bool named = snapshot->listing->named.has_value();
    if (snapshot != arrivals_of && (arrived.empty() || !named)) {
      const auto add = [&](std::int64_t step, std::uint64_t first_row, std::uint64_t last_row) {
        arrived.try_emplace(arrived.end(), step, Arrivals{first_row, last_row})->second.last = last_row;
        newest = looked_at;
      };
      const std::size_t there = snapshot->arrivals.size();
      if (!arrivals_of && !named) {
        for (const Step& step : snapshot->steps) {
          if (!options.after || step.number > options.after->value) {
            add(step.number, 0, snapshot->last_arrival);
          }
        }
      }
      for (std::size_t i = arrivals_of ? arrivals_taken : there; i < there; ++i) {
        const detail::layout::StepPart& row = snapshot->arrivals[i];
        const std::uint64_t number = named ? i + 1 : row.id;
        if (named ? given.contains(row.step) : !options.after || row.step > options.after->value) {
          add(row.step, number, number);
        }
      }
      arrivals_of = snapshot;
      arrivals_taken = there;
    }
    // More may have come since the latest look.
    if (const auto until = held_until(); until > looked_at && (until > trial->clock().now() || !waiter.quiet())) {
      return std::nullopt;
    }
    for (; !arrived.empty(); arrived.erase(arrived.begin())) {
      const auto& [number, rows] = *arrived.begin();
      if (const Step* const step = snapshot->find(number)) {  // otherwise it was superseded meanwhile
        FollowEvent event = event_of(*step);
        event.arrivals = rows;
        event.kept_back = kept_back;
        if (named && must_wait(*step, event)) {
          return std::nullopt;
        }
        arrived.erase(arrived.begin());
        if (!kept_back) {
          waiter.saw_step();
        }
        return event;
      }
    }
    return std::nullopt;
  }

  /// Returns until when the next step that arrived is held back, unless more arrives. Nullopt if it is not.
  [[nodiscard]] std::optional<Time> held_until() const {
    constexpr std::chrono::minutes at_rest{1};
    if (!options.whole_before || arrived.empty() || trial->traits().marks_steps || over() || waiter.over()) {
      return std::nullopt;
    }
    const std::int64_t last = std::max<std::int64_t>(options.whole_before->value, INT64_MIN + 1) - 1;
    return snapshot->whole.whole_at(GlobalStep(std::min(arrived.begin()->first, last))).value_or(newest + at_rest);
  }

  [[nodiscard]] static FollowEvent event_of(const Step& step) {
    return {.outcome = WaitOutcome::reached,
            .step = GlobalStep(step.number),
            .mode = step.mode,
            .mode_step = ModeStep(step.mode_step)};
  }

  /// Returns a complete step before the last one returned that was not there then. Null if there is none.
  [[nodiscard]] const Step* late_step() {
    const auto first = snapshot->after(options.after);
    const auto end = last ? snapshot->after(last) : first;
    if (snapshot->steps.rank(end) - snapshot->steps.rank(first) == given.size()) {
      return nullptr;
    }
    const auto late = std::find_if(
        first, end, [&](const Step& step) { return !given.contains(step.number) && complete(step.number); });
    return late == end ? nullptr : &*late;
  }

  std::optional<FollowEvent> give(const Step& step, bool late) {
    FollowEvent event = event_of(step);
    event.late = late;
    if (must_wait(step, event)) {
      return std::nullopt;
    }
    waiter.saw_step();
    given.insert(given.end(), step.number);
    if (!late) {
      last = event.step;
    }
    return event;
  }

  /// Sets the event files that a step lacks. Returns whether to wait for them.
  [[nodiscard]] bool must_wait(const Step& step, FollowEvent& event) {
    const Time now = trial->clock().now();
    if (options.records && held && held->step == step.number && now < held->look_again) {
      return true;
    }
    bool gone_on = false;
    event.missing = options.records ? missing_files(step, gone_on) : std::vector<std::string>();
    if (!event.missing.empty()) {
      constexpr auto first_pause = std::chrono::milliseconds(10);
      const std::chrono::nanoseconds interval = waiter.interval();
      if (!held || held->step != step.number) {
        held = Held{step.number, now, now, first_pause};
      }
      const auto tries = static_cast<double>(trial->wait_limits().missing_event_file_retries);
      const std::chrono::duration<double> waited = now - held->since;
      const bool again = event.arrivals.first > 0;  // then later steps say nothing of its files
      if (!over() && (again || !gone_on) && waited < tries * std::chrono::duration<double>(interval)) {
        held->look_again = now + std::min(held->pause, interval);
        held->pause = std::min(held->pause * 2, interval);
        return true;
      }
    }
    held.reset();
    return false;
  }

  /// Returns the event files of a step that are missing, or shorter than its index files state. Sets `gone_on` if
  /// their writers went on without them.
  [[nodiscard]] std::vector<std::string> missing_files(const Step& step, bool& gone_on) const {
    std::vector<std::string> missing;
    gone_on = true;
    for (const detail::layout::StepRow& row : snapshot->rows_of(step)) {
      const detail::layout::Payload payload = snapshot->catalog.payload(row);
      std::uint64_t end = 0;
      for (std::uint32_t i = 0; i < payload.count; ++i) {
        if (snapshot->catalog.type(payload, i).form == ValueForm::number) {
          continue;
        }
        const std::uint64_t start = payload.start(i);
        end = std::max(end, start + std::min<std::uint64_t>(payload.length(i), UINT64_MAX - start));
      }
      if (end == 0) {
        continue;
      }
      const std::string name = *trial->records().file(*snapshot, row);
      const auto file = trial->storage().open_at(name, end - std::min<std::uint64_t>(end, 1), 1);
      const bool there = file ? (*file)->size() >= end : file.problem().kind != ProblemKind::not_found;
      if (!there) {
        gone_on = gone_on && trial->records().writer_went_on(name, *snapshot);
        missing.push_back(name);
      }
    }
    return missing;
  }

  [[nodiscard]] bool complete(std::int64_t step) const noexcept { return over() || (confirmed && step <= *confirmed); }
  [[nodiscard]] bool unconfirmed() const noexcept { return !over() && snapshot->passed > confirmed; }
  /// Returns whether no further step will come.
  [[nodiscard]] bool over() const noexcept { return snapshot->settled || (hurried && snapshot->ended); }

  /// Returns whether one more look is due before giving up: the job has ended, and there is no time to wait for more.
  [[nodiscard]] bool hurry() {
    return snapshot->ended && !snapshot->end_doubted && !snapshot->settled && !std::exchange(hurried, true);
  }

  /// After a look that ended with the wait: an end marker that was seen before is believed without another look.
  [[nodiscard]] bool believe_end() {
    hurried = hurried || (snapshot && snapshot->ended && !snapshot->end_doubted && !waiter.stopped());
    return hurried;
  }

  [[nodiscard]] std::optional<Time> due(std::optional<Time> until) const {
    const std::optional<Time> look_again = held ? std::optional(held->look_again) : held_until();
    for (const std::optional<Time>& when : {snapshot->due, look_again}) {
      until = when ? std::min(*when, until.value_or(*when)) : until;
    }
    return until;
  }

  std::shared_ptr<Trial::Impl> trial;
  FollowOptions options;
  Waiter waiter;  // made before the first look
  std::shared_ptr<const Snapshot> snapshot;
  /// Steps up to here were complete at the look before the latest, or at the latest if nothing changed during it. A
  /// listing made while files are renamed into a folder may show a later file and miss an earlier one, but it shows all
  /// files that existed before it began.
  std::optional<std::int64_t> confirmed;
  std::optional<GlobalStep> last;  // all steps up to here were returned, unless there are more than `given`
  boost::container::flat_set<std::int64_t> given;  // steps that were returned
  std::optional<Held> held;
  std::map<std::int64_t, Arrivals> arrived;     // by step: still to be returned
  std::shared_ptr<const Snapshot> arrivals_of;  // the last snapshot from which they were taken
  std::size_t arrivals_taken = 0;
  Time looked_at = {};     // when the latest look began
  Time newest = {};        // that of the latest look at which any of them came
  bool kept_back = false;  // the latest look was for what was kept back
  bool hurried = false;    // time was up after the end marker, which was believed, and a last look followed
};

StepFollower::StepFollower(const Trial& trial, FollowOptions options)
    : impl_(std::make_unique<Impl>(trial.impl_, std::move(options))) {}
StepFollower::StepFollower(StepFollower&&) noexcept = default;
StepFollower::~StepFollower() = default;

FollowEvent StepFollower::next(std::optional<std::chrono::steady_clock::time_point> until) {
  return impl_->next(until);
}
std::optional<FollowEvent> StepFollower::poll() { return impl_->poll(); }
std::string StepFollower::method() const { return impl_->method(); }

}  // namespace smd
