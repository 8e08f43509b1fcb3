// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <system_error>
#include <utility>

#include "cli/interruption.hpp"
#include "cli/mapped.hpp"
#include "cli/terminal.hpp"
#include "operands/operands.hpp"
#include "run_facts.hpp"
#include "text/path.hpp"

namespace smd::tool::runs {

namespace {

namespace fs = std::filesystem;  // whose times have nanoseconds, unlike Boost's
using Clock = std::chrono::steady_clock;

std::vector<ColumnTable> column_tables() {
  static const std::vector<Column> columns = fixed_columns();
  return {column_table("", columns, "each scalar: NAME, NAME:min or NAME:max, NAME@best; each hyperparameter: hp.KEY")};
}

/// The runs of all places, each once, by the first path that leads to it.
struct FoundRuns {
  std::vector<std::string> paths = {};
  std::map<std::string, std::string> names = {};  ///< By path: below the place in which it was found.
  std::string awaited = {};                       ///< With --follow: the first place that has none yet; empty: none.
};

FoundRuns found_runs(const std::vector<std::string>& places, const RunsOptions& options, Diagnostics& messages) {
  FoundRuns runs;
  std::set<fs::path> known;  // without symbolic links; on S3 as they are
  std::string* const awaited = options.following.follow ? &runs.awaited : nullptr;
  for (const std::string& place : places) {
    const std::string folder(text::without_slashes(place));
    for (const std::string& path : found_trials(place, options.reading, messages, awaited)) {
      const bool below = path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
      std::error_code unknown;
      const fs::path real = fs::canonical(path, unknown);
      if (known.insert(unknown ? fs::path(path) : real).second) {
        runs.names.emplace(path, path.substr(below ? folder.size() + 1 : path.rfind('/') + 1));
        runs.paths.push_back(path);
      }
    }
  }
  return runs;
}

/// What says whether a run can have changed.
struct Stamp {
  std::uint64_t number = 0;        ///< Changes with what is at or below a local path, by times and sizes; 0: unknown.
  fs::file_time_type newest = {};  ///< When anything was written there last.
};

Stamp stamp_of(const std::string& path) {
  std::error_code error;
  Stamp stamp;
  const auto add = [&](const fs::path& entry) {
    stamp.number += fs::file_size(entry, error);  // a folder has none, which is no error
    const fs::file_time_type time = fs::last_write_time(entry, error);
    stamp.number += static_cast<std::uint64_t>(time.time_since_epoch().count());
    stamp.newest = std::max(stamp.newest, time);
  };
  add(path);
  if (error) {
    return {};
  }
  const fs::recursive_directory_iterator end;
  for (fs::recursive_directory_iterator entry(path, fs::directory_options::skip_permission_denied, error); entry != end;
       entry.increment(error)) {
    if (entry->is_symlink(error) && entry->is_directory(error)) {
      return {};  // the loop does not see what is below it
    }
    add(entry->path());
  }
  return error && error != std::errc::not_a_directory ? Stamp() : stamp;  // a file has no folder to walk
}

/// Reads runs, side by side. With --follow, those of `before` are not read again unless they can have changed.
std::vector<RunFacts> read_runs(const FoundRuns& found, const std::vector<RunFacts>& before, const RunsOptions& options,
                                Diagnostics& messages) {
  std::map<std::string_view, const RunFacts*> known;
  for (const RunFacts& run : before) {
    known.emplace(run.trial, &run);
  }
  std::vector<RunFacts> runs;
  runs.reserve(found.paths.size());
  OperandSource source = OperandSource::of(found.paths);
  messages.name_trials(found.paths.size() > 1);
  visit_in_turn(
      source, {.doing = "reading runs", .jobs = options.reading.jobs}, messages, [&](const Visit& visit) -> Show {
        const std::string& path = visit.operand;
        const auto old = known.find(path);
        const bool over = old != known.end() && old->second->over;
        const Stamp stamp = options.following.follow && !over ? stamp_of(path) : Stamp();
        const bool same = over || (stamp.number != 0 && old != known.end() && stamp.number == old->second->stamp);
        const bool grows = stamp.number != 0 && fs::file_time_type::clock::now() - stamp.newest < young;
        const auto facts = std::make_shared<RunFacts>(
            same ? *old->second : read_run(path, found.names.at(path), options, visit.jobs, grows, messages));
        facts->stamp = facts->rests ? stamp.number : 0;
        return [&runs, facts] {
          runs.push_back(std::move(*facts));
          return true;
        };
      });
  return runs;
}

/// Whether a run that has not ended has this status.
bool any_has(const std::vector<RunFacts>& runs, std::string_view status) {
  return std::ranges::any_of(runs, [&](const RunFacts& run) { return run.status == status && !run.ended; });
}

/// Draws the table again and again until no job runs. Returns whether there was any run.
bool follow_runs(const std::vector<std::string>& places, const RunsOptions& options, OutputFile& out,
                 Diagnostics& messages) {
  constexpr std::chrono::milliseconds pause{2000};
  Interruption interruption(options.following.reader);
  const WaitOptions wait = options.following.wait_options(interruption.token());
  Redraw screen(out, messages);
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::vector<RunFacts> runs;
  std::vector<std::pair<std::string, std::size_t>> steps;  // of each run
  Clock::time_point quiet_since = Clock::now();
  while (true) {
    const FoundRuns found = found_runs(places, options, messages);
    runs = read_runs(found, runs, options, messages);
    auto now = mapped(runs, [](const RunFacts& run) { return std::pair(run.trial, run.steps); });
    if (now != steps) {
      steps = std::move(now);
      quiet_since = Clock::now();
    }
    const bool coming = !found.awaited.empty() || std::ranges::any_of(runs, &RunFacts::awaited);
    const bool running = coming || any_has(runs, "running");
    const bool idle = wait.idle && Clock::now() - quiet_since >= *wait.idle;
    const bool over = !running && (idle || !any_has(runs, "unknown"));
    const bool late = idle || (wait.deadline && Clock::now() >= *wait.deadline);
    OutputFile table = OutputFile::screen();
    print_runs(runs, options, !over, table, messages);
    if (interruption.asked()) {
      return true;
    }
    screen.show(table.take_text());
    if (over || late) {
      say_missing(runs, messages);
    }
    if (over) {
      return !runs.empty();
    }
    if (late) {
      const std::string limit = duration_text(idle ? *wait.idle : *options.following.timeout);
      const std::string why = idle ? "no new step came" : "the jobs have not ended";
      const std::string absent = found.awaited + ": no trial appeared within " + limit;
      messages.fail("Timeout", found.awaited.empty() ? why : absent, ExitStatus::timed_out);
      return true;
    }
    std::unique_lock lock(mutex);
    stopped.wait_for(lock, interruption.token(), options.following.interval.value_or(pause), [] { return false; });
    if (interruption.asked()) {
      return true;
    }
  }
}

}  // namespace

const CommandDefinition& definition() {
  static const CommandDefinition definition = {
      .name = "smd-runs",
      .synopsis = "[OPTION]... [PLACE]...",
      .summary = "Compares many runs, a row each: which is best, and why.",
      .brief = "compare many training runs",
      .operands =
          {{.metavar = "PLACE", .kind = ArgumentKind::folder, .required = false, .repeats = true, .here = true}},
      .examples = {{"which run is best?", "smd-runs runs --best CrossEntropyLoss_output_0"},
                   {"these scalars of each run, with all hyperparameters, as CSV",
                    "smd-runs runs -e Loss_output --hp all --csv"},
                   {"runs that hardly began", "smd-runs runs --where 'steps < 100' --columns trial"},
                   {"when will they end?", "smd-runs runs --until-step 100000 --columns run,last_step,rate,eta"}},
      .option_tables = {RunsOptions::table(), SelectionOptions::name_table(), SelectionOptions::tensor_table(),
                        OutputOptions::table(), ReadingOptions::table(), FollowingOptions::table(),
                        MessageOptions::table()},
      .formats = row_format_names(),
      .exit_notes = {{ExitStatus::yes, "runs were found, and read"},
                     {ExitStatus::no,
                      "there is no run, none meets --where, what was asked for is in none, or a record is missing"},
                     {ExitStatus::usage, "an option or a pattern is wrong; --follow without a terminal"},
                     {ExitStatus::unreadable,
                      "a place or a run cannot be read; its row says so, and the others are printed"},
                     {ExitStatus::damaged, "something in a run is damaged; the rest was used"},
                     {ExitStatus::timed_out, "--timeout or --idle ended --follow while a job was running"}},
      .see_also = {"smd-ls(1)", "smd-tensor(1)", "smd-report(1)", "smd-trial(5)"},
      .columns = column_tables,
  };
  return definition;
}

ExitStatus run(const RunsOptions& options, Diagnostics& messages) {
  messages.other_trials_have_rows();
  OutputFile out = options.output.open();
  const std::vector<std::string> places = all_operands(options.places, options.output.null_separated, messages);
  bool found = false;
  if (options.following.follow) {
    found = follow_runs(places, options, out, messages);
  } else {
    const std::vector<RunFacts> runs = read_runs(found_runs(places, options, messages), {}, options, messages);
    print_runs(runs, options, false, out, messages);
    say_missing(runs, messages);
    found = !runs.empty();
  }
  out.close(messages);
  return found ? ExitStatus::yes : ExitStatus::no;
}

}  // namespace smd::tool::runs
