// SPDX-License-Identifier: Apache-2.0
#include "follow/following.hpp"

#include "cli/number_format.hpp"
#include "cli/text.hpp"
#include "follow/followed_steps.hpp"
#include "follow/followed_trials.hpp"
#include "select/explanations.hpp"

#include <smd/follow.hpp>
#include <smd/snapshot.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <iterator>
#include <memory>
#include <mutex>
#include <utility>

namespace smd::tool {

namespace {

/// Reports a probable typo early, not only when the job is over.
void note_not_seen(const Trial& trial, const SelectionOptions& options, Diagnostics& messages) {
  for (const std::string& name : options.names) {
    if (!trial.has_tensor(name)) {
      messages.note(trial.name() + ": " + single_quoted(name) + " was not saved so far" +
                    did_you_mean(detail::nearest(name, trial.tensor_names())));
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

// The steps to read. Terms that count from an end need all steps, and only a later step shows that one was skipped.
StepRange range_to_follow(const FollowSetup& setup) {
  const StepSpec& spec = setup.selection.steps ? *setup.selection.steps : setup.needs.fallback;
  if (spec.all() || spec.need().kind != StepNeed::Kind::windows || setup.selection.modes != std::vector{Mode::global}) {
    return {};
  }
  const std::vector<StepRange> windows = spec.need().windows;
  const auto least = std::ranges::min_element(windows, {}, &StepRange::first);
  return least == windows.end() ? StepRange() : StepRange{.first = least->first};
}

/// Reports which named tensors, collections and workers never came; status 1. Call it after all steps.
void report_never_seen(Trial& trial, const SelectionOptions& options, Diagnostics& messages) {
  SelectionOptions named;
  named.names = options.names;
  named.collections = options.collections;
  named.worker = options.worker;
  if (!named.names.empty() || !named.collections.empty()) {
    (void)select_tensors(trial, named, messages);
  }
  (void)check_worker(trial, named, messages);
}

/// Reports what is missing when no further step comes. `any`: a step came.
void report_end(Trial& trial, WaitOutcome how, bool any, const FollowedSteps& steps, const SelectionOptions& selection,
                Diagnostics& messages) {
  switch (how) {
    case WaitOutcome::reached:
    case WaitOutcome::stopped:
      return;
    case WaitOutcome::ended:
      if (!any && trial.listed_steps().empty()) {
        report_no_step(trial, messages);
        return;
      }
      for (const Mode mode : selection.modes) {
        if (mode != Mode::global && !contains(trial.modes(), mode)) {
          say_no_step_in(mode, trial, {.options = selection}, messages);
        }
      }
      steps.report_missing(true, messages);
      report_never_seen(trial, selection, messages);
      return;
    case WaitOutcome::timed_out:
    case WaitOutcome::idle:
      report_time_up(trial.name(), how == WaitOutcome::idle, messages);
      return;
  }
}

/// Whether what arrived is found no more, because the trial was read again: the rows then have other numbers. What was
/// superseded keeps its number.
bool was_read_again(const Trial& trial, const FollowEvent& event) {
  const auto finds = [&](bool superseded) {
    return any_entry(trial, {.steps = {{event.step}}, .superseded = superseded, .arrivals = event.arrivals});
  };
  return !finds(false) && !finds(true);
}

/// Whether anything that is selected has arrived since its step was last shown.
bool has_news(const Trial& trial, const Selection& selection, const FollowSetup& setup) {
  const EntryFilter& counts = setup.needs.counts;
  return any_entry(trial, counts ? entry_query(setup.selection, selection) : query_for(selection, setup.selection),
                   counts);
}

/// Follows one trial. `visit` is called under the lock of all trials, as `visited` is set.
void follow(Trial& trial, const FollowSetup& setup, FollowedTrials& trials, Diagnostics& messages, bool& visited,
            const std::function<void(Selection&& selection)>& visit) {
  using Clock = FollowedSteps::Time::clock;
  if (setup.opened) {
    const std::lock_guard lock(trials.mutex());
    setup.opened(trial);
  }
  if (!check_modes(trial, setup.selection.modes, messages)) {
    return;
  }
  if (setup.records) {
    note_superseded(trial, setup.selection, setup.needs.fallback, setup.reading, messages);
  }
  FollowedSteps steps(trial, setup.selection, setup.needs);
  std::uint64_t superseded = superseded_values(trial);
  const auto of_selected = [&] { return superseded_entries(trial, setup.selection, setup.needs.fallback); };
  auto gone = of_selected();
  Clock::time_point note_again;
  // While steps come, this takes at most a tenth of the time.
  const auto note_going_back = [&](bool over) {
    const Clock::time_point begun = Clock::now();
    if (begun < note_again && !over) {
      return;
    }
    if (const std::uint64_t before = std::exchange(superseded, superseded_values(trial)); superseded > before) {
      const auto known = std::exchange(gone, of_selected());
      auto more = decltype(gone)();
      std::ranges::set_difference(gone, known, std::back_inserter(more));
      if (!more.empty()) {
        messages.note(trial.name() + " went back to step " + std::to_string(more.front().first) + ": " +
                      counted(more.size(), "value") + " superseded");
      }
    }
    note_again = Clock::now() + 10 * (Clock::now() - begun);
  };
  std::uint64_t generation = TrialSnapshot::last(trial).generation();
  StepFollower follower(trial, {.wait = trials.wait(), .after = steps.after(), .records = setup.records});
  messages.info(trial.name() + ": followed by " + follower.method());
  std::optional<FollowEvent> chosen;  // and still to be shown
  const auto show = [&] {
    const FollowEvent event = *std::exchange(chosen, std::nullopt);
    visited = true;
    Selection selection = select_at(trial, setup.selection, setup.needs, {event.step, event.mode, event.mode_step});
    selection.arrivals = event.arrivals;
    std::erase_if(selection.tensors, [&](const std::string& name) { return !steps.wants(name); });
    if (setup.whole_steps && was_read_again(trial, event)) {
      selection.arrivals = {};
    } else if (setup.whole_steps && event.arrivals.first != 0 && !selection.empty() &&
               has_news(trial, selection, setup)) {
      selection.arrivals.first = 0;  // what the step had before is part of the row
    }
    visit(std::move(selection));
  };
  const auto report_over = [&] {
    note_going_back(true);
    report_problems(trial, true, messages);
    steps.report_missing(false, messages);
    report_never_seen(trial, setup.selection, messages);
  };
  bool any = false;
  while (true) {
    const std::optional<Clock::time_point> over_at = steps.over_at();
    FollowEvent event = follower.next(over_at);
    const std::lock_guard lock(trials.mutex());
    report_problems(trial, event.outcome != WaitOutcome::reached, messages);
    const std::uint64_t generation_before = std::exchange(generation, TrialSnapshot::last(trial).generation());
    if (chosen && (generation != generation_before || !trial.mode(chosen->step))) {
      chosen.reset();  // of a trial whose place another one took, or superseded
    } else if (chosen && (event.outcome != WaitOutcome::reached || event.step != chosen->step)) {
      show();
    }
    // With --idle, the range is over as soon as nothing has come for that long.
    if ((event.outcome == WaitOutcome::timed_out && steps.over()) || (event.outcome == WaitOutcome::idle && over_at)) {
      return report_over();
    }
    if (event.outcome != WaitOutcome::reached) {
      note_going_back(true);
      return report_end(trial, event.outcome, any, steps, setup.selection, messages);
    }
    if (!std::exchange(any, true) && !trial.ended()) {
      note_not_seen(trial, setup.selection, messages);
    }
    if (event.late) {
      messages.note(trial.name() + ": step " + std::to_string(event.step.value) +
                    " came late, after later steps were shown");
    }
    report_missing_files(trial, event, messages);
    note_going_back(false);
    const bool chooses = steps.choose(event);
    if (steps.counts_late()) {
      messages.note_once(trial.name() +
                         ": steps came late: --every counts them as they come, and may choose others "
                         "than without -F");
    }
    if (chooses) {
      event.arrivals.first = chosen ? chosen->arrivals.first : event.arrivals.first;
      chosen = event;
      const bool whole = trial.layout().marks_steps || trial.layout().has_headers;  // as checkpoints are
      if (!setup.whole_steps || whole || steps.over()) {
        show();
      }
    }
    messages.say_missing();
    if (steps.over()) {
      return report_over();
    }
  }
}

constexpr OptionSpec duration_option(std::string_view name, std::string_view help) {
  return {.name = name, .metavar = "D", .help = help, .group = group::reading, .kind = ArgumentKind::duration};
}

constexpr std::array<OptionSpec, 4> following_table = {{
    {.short_name = 'F',
     .name = "follow",
     .help = "go on as steps complete, until the job ends",
     .group = group::reading,
     .manual =
         "Go on as steps complete, until the job ends. If a trial does not exist yet, wait for it; a message says "
         "so."},
    duration_option("timeout", "give up (status 124) after D: 30, 1.5s, 5m, 2h"),
    duration_option("idle", "give up (status 124) after D without a new step"),
    duration_option("interval",
                    "look at least this often (default: 2s, 5s on S3; local changes are noticed at once where inotify "
                    "works)"),
}};

/// How long a store has not answered. Thread-safe.
class Silence {
 public:
  using Clock = std::chrono::steady_clock;

  void answered() noexcept { since_ = now(); }
  /// Called every 50 ms while something is asked of the store. Once true it stays so.
  [[nodiscard]] bool lasts(std::chrono::nanoseconds most) noexcept {
    constexpr std::chrono::nanoseconds pause = std::chrono::milliseconds(500);
    const Clock::rep time = now();
    if (Clock::duration(time - asked_.exchange(time)) > pause) {
      since_ = time;  // nothing was asked for a while
    }
    over_ = over_ || Clock::duration(time - since_) >= most;
    return over_;
  }

 private:
  static Clock::rep now() noexcept { return Clock::now().time_since_epoch().count(); }

  std::atomic<Clock::rep> asked_ = now();
  std::atomic<Clock::rep> since_ = now();
  std::atomic<bool> over_ = false;
};

}  // namespace

bool follow_trials(const std::vector<std::string>& operands, const FollowSetup& setup, Diagnostics& messages,
                   const FollowVisit& visit) {
  FollowedTrials trials(setup.following, setup.reading, messages);
  bool visited = false;
  trials.visit(operands, range_to_follow(setup), setup.listed, [&](std::size_t i, Trial& trial) {
    follow(trial, setup, trials, messages, visited,
           [&](Selection&& selection) { visit(i, trial, std::move(selection)); });
  });
  if (!visited && messages.status() == ExitStatus::yes && !trials.interrupted()) {
    for (const std::string& trial : operands) {
      say_no_step_selected(trial, messages);
    }
  }
  return visited;
}

std::chrono::nanoseconds parse_duration(std::string_view text) {
  constexpr double most = 1e8;  // three years
  const char* const last = text.data() + text.size();
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), last, number, std::chars_format::fixed);
  const std::string_view unit(end, static_cast<std::size_t>(last - end));
  const double factor = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  invalid_if(error != std::errc{} || factor == 0 || !(number >= 0),
             single_quoted(text) + " is not a duration: 30, 1.5s, 5m or 2h");
  invalid_if(!(number * factor <= most), single_quoted(text) + " is longer than 100000000s");
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(number * factor));
}

std::string duration_text(std::chrono::nanoseconds duration) {
  for (const auto& [unit, name] :
       {std::pair(std::chrono::seconds(3600), "h"), std::pair(std::chrono::seconds(60), "m")}) {
    if (duration.count() > 0 && duration % unit == duration.zero()) {
      return std::to_string(duration / unit) + name;
    }
  }
  return number_text(std::chrono::duration<double>(duration).count()) + "s";
}

std::span<const OptionSpec> FollowingOptions::table() noexcept { return following_table; }
std::span<const OptionSpec> FollowingOptions::waiting_table() noexcept { return table().subspan(1); }

FollowingOptions FollowingOptions::from(const CommandLine& line) {
  for (const std::string_view name : {"sort", "limit"}) {
    refuse_if(line.has("follow") && line.has(name),
              "--" + std::string(name) + " and --follow: rows are printed as they come; leave out one of the two");
  }
  refuse_if(line.has("follow") && line.has("incomplete"),
            "--follow and --incomplete: a step is shown once, when it is complete; leave out one of the two");
  return from_redrawn(line);
}

FollowingOptions FollowingOptions::from_redrawn(const CommandLine& line) {
  FollowingOptions options;
  if (line.has("quiet") || line.value("output").value_or("-") != "-") {
    options.reader = Interruption::Reader::ignored;
  }
  options.follow = line.has("follow");
  if (line.definition().find("follow") != nullptr && !options.follow) {
    for (const std::string_view name : {"timeout", "idle", "interval"}) {
      refuse_if(line.has(name), "--" + std::string(name) + " needs --follow: without it nothing is waited for");
    }
  }
  options.timeout = line.convert("timeout", parse_duration);
  options.idle = line.convert("idle", parse_duration);
  const auto interval = line.convert("interval", parse_duration);
  if (interval) {
    options.interval =
        std::max(std::chrono::duration_cast<std::chrono::milliseconds>(*interval), std::chrono::milliseconds(1));
  }
  return options;
}

WaitOptions FollowingOptions::wait_options(std::stop_token stop) const {
  return {.deadline = timeout ? std::optional(std::chrono::steady_clock::now() + *timeout) : std::nullopt,
          .idle = idle,
          .interval = interval,
          .stop = std::move(stop)};
}

std::function<bool()> FollowingOptions::request_stop(const WaitOptions& wait) const {
  const bool asks_once = timeout && timeout->count() == 0;
  const auto deadline = asks_once ? std::nullopt : wait.deadline;
  return [stop = wait.stop, deadline] {
    return interrupted() || stop.stop_requested() || (deadline && std::chrono::steady_clock::now() >= *deadline);
  };
}

void FollowingOptions::end_requests(TrialOptions& options, const std::string& path, const WaitOptions& wait) const {
  RemoteOptions& remote = options.remote;
  remote.stop = request_stop(wait);
  if (is_remote_path(path) && wait.idle && wait.idle->count() > 0) {
    const auto silence = std::make_shared<Silence>();
    remote.answered = [silence] { silence->answered(); };
    remote.stop = [over = std::move(remote.stop), silence, most = *wait.idle] {
      return over() || silence->lasts(most);
    };
  }
}

}  // namespace smd::tool
