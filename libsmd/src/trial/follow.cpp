// SPDX-License-Identifier: Apache-2.0
#include <smd/follow.hpp>

#include "trial/trial_state.hpp"
#include "trial/waiter.hpp"

#include <algorithm>
#include <utility>

namespace smd {

using detail::trial::Snapshot;
using detail::trial::Step;
using detail::trial::Waiter;
using Kind = FollowEvent::Kind;

/// Hidden: otherwise it would be exported with its class.
struct __attribute__((visibility("hidden"))) StepFollower::Impl {
  using Time = Waiter::Time;

  Impl(std::shared_ptr<Trial::Impl> in_trial, FollowOptions in_options)
      : trial(std::move(in_trial)),
        options(std::move(in_options)),
        waiter(*trial, options.wait, detail::trial::Watching::from_the_start) {
    if (options.after) {
      last = options.after->value;
    }
  }

  FollowEvent next() {
    for (bool looked = false;; looked = true) {
      if (waiter.stopped()) {
        return {.kind = Kind::stopped};
      }
      if (snapshot) {
        if (std::optional<FollowEvent> event = take()) {
          return *std::move(event);
        }
        const bool look_at_once = unconfirmed() && !held;
        if ((looked || over() || waiter.quiet()) && !look_at_once) {
          if (over() && !held) {
            return {.kind = Kind::ended};
          }
          if (const std::optional<Kind> up = out_of_time()) {
            if (!hurry()) {
              return {.kind = *up};
            }
          } else {
            trial->require_readable(*snapshot);
            waiter.pause(due());
          }
        }
      }
      if (!look() && !believe_end()) {
        const WaitOutcome over = waiter.over().value_or(WaitOutcome::stopped);
        return {.kind = over == WaitOutcome::timed_out ? Kind::timed_out
                        : over == WaitOutcome::idle    ? Kind::idle
                                                       : Kind::stopped};
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
          return FollowEvent{.kind = Kind::ended};
        }
      }
      if (looked && (held || !unconfirmed()) && !(out_of_time() && hurry())) {
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

  /// Rows of a step that arrived.
  struct Arrived {
    std::int64_t step;
    Arrivals rows;
  };

  /// Returns false if the wait ended during the look.
  [[nodiscard]] bool look() {
    std::shared_ptr<const Snapshot> next = waiter.look(*trial);
    if (!next) {
      return false;
    }
    const bool sure = waiter.quiet();
    confirmed = sure ? next->passed : snapshot ? snapshot->passed : std::nullopt;
    if (snapshot && next->generation != snapshot->generation) {  // another trial took its place
      last = options.after ? std::optional(options.after->value) : std::nullopt;
      given.clear();
      known = 0;
      held.reset();
      arrived.clear();
      arrivals_of.reset();
      hurried = false;
      if (!sure) {
        confirmed.reset();
      }
    }
    snapshot = std::move(next);
    return true;
  }

  /// Returns the next step that is complete in the current snapshot. Nullopt if there is none.
  std::optional<FollowEvent> take() {
    if (!snapshot->listing->named) {
      return take_arrived();
    }
    if (const Step* const step = late_step()) {
      return give(*step, true);
    }
    const Step* const step = last ? snapshot->first_after(*last) : snapshot->first();
    if (step == nullptr || !complete(step->number)) {
      return std::nullopt;
    }
    return give(*step, false);
  }

  /// For layouts whose steps grow: returns the rows that arrived since the last look, by step; at the first look, all
  /// rows. Nullopt if there are none.
  std::optional<FollowEvent> take_arrived() {
    if (arrived.empty() && snapshot != arrivals_of) {
      const std::size_t there = snapshot->arrivals.size();
      if (!arrivals_of) {
        for (const Step& step : snapshot->steps) {
          if (!options.after || step.number > options.after->value) {
            arrived.push_back({step.number, {0, snapshot->last_arrival}});
          }
        }
      }
      for (std::size_t i = arrivals_of ? arrivals_taken : there; i < there; ++i) {
        const detail::layout::StepPart& row = snapshot->arrivals[i];
        if (!options.after || row.step > options.after->value) {
          arrived.push_back({row.step, {row.id, row.id}});
        }
      }
      arrivals_of = snapshot;
      arrivals_taken = there;
      std::stable_sort(arrived.begin(), arrived.end(),
                       [](const Arrived& a, const Arrived& b) { return a.step < b.step; });
      std::size_t kept = 0;
      for (const Arrived& one : arrived) {
        if (kept > 0 && arrived[kept - 1].step == one.step) {
          arrived[kept - 1].rows.last = one.rows.last;
        } else {
          arrived[kept++] = one;
        }
      }
      arrived.resize(kept);
      std::reverse(arrived.begin(), arrived.end());  // the next one is last
    }
    while (!arrived.empty()) {
      const Arrived next = arrived.back();
      arrived.pop_back();
      if (const Step* const step = snapshot->find(next.step)) {  // otherwise it was superseded meanwhile
        waiter.saw_step();
        return FollowEvent{.kind = Kind::step,
                           .step = GlobalStep(step->number),
                           .mode = step->mode,
                           .mode_step = ModeStep(step->mode_step),
                           .arrivals = next.rows};
      }
    }
    return std::nullopt;
  }

  /// Returns a complete step before the last one returned that was not there then. Null if there is none.
  [[nodiscard]] const Step* late_step() {
    if (!last ||
        snapshot->steps_up_to(*last) - (options.after ? snapshot->steps_up_to(options.after->value) : 0) == known) {
      return nullptr;
    }
    const std::int64_t first = options.after ? options.after->value + 1 : INT64_MIN;
    for (const Step& step : snapshot->steps) {
      if (step.number > *last) {
        break;
      }
      if (step.number >= first && !std::binary_search(given.begin(), given.end(), step.number) &&
          complete(step.number)) {
        return &step;
      }
    }
    return nullptr;
  }

  std::optional<FollowEvent> give(const Step& step, bool late) {
    FollowEvent event{.kind = Kind::step,
                      .step = GlobalStep(step.number),
                      .mode = step.mode,
                      .mode_step = ModeStep(step.mode_step),
                      .late = late};
    const Time now = trial->clock().now();
    if (options.records && !(held && held->step == step.number && now < held->look_again)) {
      bool hopeless = over();
      event.missing = missing_files(step, hopeless);
      if (!event.missing.empty()) {
        constexpr auto first_pause = std::chrono::milliseconds(10);
        const std::chrono::nanoseconds interval = waiter.interval();
        if (!held || held->step != step.number) {
          held = Held{step.number, now, now, first_pause};
        }
        const auto tries = static_cast<double>(trial->wait_limits().missing_event_file_retries);
        const std::chrono::duration<double> waited = now - held->since;
        hopeless = hopeless || waited >= tries * std::chrono::duration<double>(interval);
        if (!hopeless) {
          held->look_again = now + std::min(held->pause, interval);
          held->pause = std::min(held->pause * 2, interval);
          return std::nullopt;
        }
      }
    } else if (options.records) {
      return std::nullopt;
    }
    held.reset();
    waiter.saw_step();
    if (given.empty() || given.back() < step.number) {
      given.push_back(step.number);
    } else {
      given.insert(std::lower_bound(given.begin(), given.end(), step.number), step.number);
    }
    ++known;
    if (!late) {
      last = step.number;
    }
    return event;
  }

  /// Returns the event files of a step that are missing, or shorter than its index files state. Sets `hopeless` if
  /// waiting for them is useless.
  [[nodiscard]] std::vector<std::string> missing_files(const Step& step, bool& hopeless) const {
    std::vector<std::string> missing;
    bool all_hopeless = true;
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
        all_hopeless = all_hopeless && trial->records().writer_went_on(name, *snapshot);
        missing.push_back(name);
      }
    }
    hopeless = hopeless || all_hopeless;
    return missing;
  }

  [[nodiscard]] bool complete(std::int64_t step) const noexcept { return over() || (confirmed && step <= *confirmed); }
  [[nodiscard]] bool unconfirmed() const noexcept { return !over() && snapshot->passed > confirmed; }
  /// Returns whether no further step will come.
  [[nodiscard]] bool over() const noexcept { return snapshot->settled || (hurried && snapshot->ended); }

  /// Returns which limit of time has passed. Nullopt if none has.
  [[nodiscard]] std::optional<Kind> out_of_time() const {
    if (waiter.passed()) {
      return Kind::timed_out;
    }
    return waiter.idle() ? std::optional(Kind::idle) : std::nullopt;
  }

  /// Returns whether one more look is due before giving up: the job has ended, and there is no time to wait for more.
  [[nodiscard]] bool hurry() { return snapshot->ended && !snapshot->settled && !std::exchange(hurried, true); }

  /// After a look that ended with the wait: an end marker that was seen before is believed without another look.
  [[nodiscard]] bool believe_end() {
    hurried = hurried || (snapshot && snapshot->ended && !waiter.stopped());
    return hurried;
  }

  [[nodiscard]] std::optional<Time> due() const {
    std::optional<Time> when = snapshot->due;
    const auto sooner = [&when](Time other) { when = std::min(when.value_or(other), other); };
    if (held) {
      sooner(held->look_again);
    }
    return when;
  }

  std::shared_ptr<Trial::Impl> trial;
  FollowOptions options;
  Waiter waiter;  // made before the first look
  std::shared_ptr<const Snapshot> snapshot;
  /// Steps up to here were complete at the look before the latest, or at the latest if nothing changed during it. A
  /// listing made while files are renamed into a folder may show a later file and miss an earlier one, but it shows all
  /// files that existed before it began.
  std::optional<std::int64_t> confirmed;
  std::optional<std::int64_t> last;  // all steps up to here were returned, unless there are more than `known`
  std::vector<std::int64_t> given;   // steps that were returned, ascending
  std::size_t known = 0;             // the number of returned steps
  std::optional<Held> held;
  std::vector<Arrived> arrived;                 // still to be returned, the next one last
  std::shared_ptr<const Snapshot> arrivals_of;  // the last snapshot from which they were taken
  std::size_t arrivals_taken = 0;
  bool hurried = false;  // time was up after the end marker, which was believed, and a last look followed
};

StepFollower::StepFollower(const Trial& trial, FollowOptions options)
    : impl_(std::make_unique<Impl>(trial.impl_, std::move(options))) {}
StepFollower::StepFollower(StepFollower&&) noexcept = default;
StepFollower& StepFollower::operator=(StepFollower&&) noexcept = default;
StepFollower::~StepFollower() = default;

FollowEvent StepFollower::next() { return impl_->next(); }
std::optional<FollowEvent> StepFollower::poll() { return impl_->poll(); }
std::string StepFollower::method() const { return impl_->method(); }

}  // namespace smd
