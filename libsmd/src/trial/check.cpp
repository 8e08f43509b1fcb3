// SPDX-License-Identifier: Apache-2.0
#include "base/parallel.hpp"
#include "layout/debugger/trial_paths.hpp"
#include "trial/record_reader.hpp"
#include "trial/trial_state.hpp"

#include <smd/trial.hpp>

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace smd {

using detail::layout::StepRow;
using detail::trial::RecordReader;
using detail::trial::Snapshot;
using detail::trial::TrialState;

namespace {

/// What one step file's records came to.
struct RowReport {
  std::string event_file;
  std::uint64_t records = 0;
  std::uint64_t unprotected = 0;
  std::uint64_t bytes = 0;
  std::vector<Problem> problems;
};

/// Reads every record that a row names, repeated ones too.
RowReport check_row(const TrialState& state, const Snapshot& snapshot, const StepRow& row, RecordReader& reader) {
  RowReport report;
  const detail::layout::Payload& payload = snapshot.catalog.payload(row);
  const detail::trial::ItemList& list = snapshot.catalog.items(row);
  for (std::uint32_t position = 0; position < payload.count; ++position) {
    const TensorLocation place = state.location(snapshot, row, position);
    report.event_file = place.file;
    ++report.records;
    report.bytes += place.length;
    auto record = reader.read(place, snapshot.catalog.stored_names()[list.names[position]]);
    if (record) {
      report.unprotected += record->has_checksum ? 0 : 1;
      continue;
    }
    Problem problem = state.judge(std::move(record.problem()), place, snapshot);
    const bool whole_file = !problem.offset.has_value();
    report.problems.push_back(std::move(problem));
    if (whole_file) {
      break;  // the same for each of its records
    }
  }
  return report;
}

/// Notes names that are no part of a trial, and event files that no index file names.
class NameCheck {
 public:
  NameCheck(const TrialState& state, std::unordered_set<std::string> event_files,
            const std::function<void(Problem)>& report)
      : state_(state), event_files_(std::move(event_files)), report_(report) {}

  void folder(const std::string& path, int depth) {
    const auto listed =
        state_.storage().list_parts(path, [&](Entries entries) { part(path, depth, std::move(entries)); });
    if (!listed) {
      report_(listed.problem());
    }
  }

 private:
  using Entries = std::vector<detail::storage::DirEntry>;
  static constexpr int deepest = 8;

  void part(const std::string& path, int depth, Entries entries) {
    std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    for (const auto& entry : entries) {
      const std::string name = path.empty() ? entry.name : path + "/" + entry.name;
      if (entry.kind == detail::storage::EntryKind::folder) {
        if (path.empty() && !is_part(entry.name)) {
          report_(note(name, "this folder is no part of a trial"));
        } else if (depth < deepest && name != "tensorboard") {
          folder(name, depth + 1);
        }
      } else {
        file(name, entry.name, path.empty());
      }
    }
  }

  static Problem note(const std::string& file, const char* text) { return {ProblemKind::note, file, {}, text}; }
  static bool is_part(const std::string& folder) {
    return folder == "collections" || folder == detail::layout::index_folder ||
           folder == detail::layout::events_folder || folder == "tensorboard" || folder == detail::layout::end_marker;
  }

  void file(const std::string& name, const std::string& leaf, bool in_root) {
    if (leaf.ends_with(".tmp")) {
      report_(note(name, "temporary file: being written, or left over by a writer that died"));
    } else if (in_root && leaf != detail::layout::end_marker && leaf != detail::layout::lock_file &&
               leaf != "claim.smd") {
      report_(note(name, "this file is no part of a trial"));
    } else if (name.starts_with("events/") && !event_files_.contains(name)) {
      report_(note(name, "no readable index file names this file"));
    }
  }

  const TrialState& state_;
  std::unordered_set<std::string> event_files_;
  const std::function<void(Problem)>& report_;
};

}  // namespace

CheckReport check_trial(const std::string& path, const TrialOptions& options,
                        const std::function<void(const Problem&)>& report_problem) {
  TrialOptions all = options;
  all.range_steps = {};
  all.auto_refresh = false;
  all.strict = false;
  TrialState state(path, all);
  const std::shared_ptr<const Snapshot> snapshot = state.snapshot();
  CheckReport report;
  const std::function<void(Problem)> add = [&](const Problem& problem) {
    report.damaged = report.damaged || problem.kind == ProblemKind::damaged;
    report_problem(problem);
  };
  for (const auto& [name, collection] : snapshot->collections->collections) {
    TensorQuery members;
    members.collections = {name};
    detail::MatchBudget none(0);                        // of its own patterns it has none
    (void)select_ids(state, *snapshot, members, none);  // its patterns are tried; what is wrong is noticed
  }
  for (const Problem& problem : state.problems()) {
    add(problem);
  }
  report.index_files = snapshot->listing->files.size();

  std::vector<StepRow> rows;
  for (const detail::trial::Step& step : snapshot->steps) {
    const std::span<const StepRow> of_step = snapshot->rows_of(step);
    rows.insert(rows.end(), of_step.begin(), of_step.end());
  }
  const unsigned jobs = state.jobs();
  std::vector<std::unique_ptr<RecordReader>> readers(jobs);
  std::unordered_set<std::string> event_files;
  detail::parallel_ordered(
      jobs, rows.size(), std::size_t{jobs} * 4,
      [&](std::size_t i, unsigned worker) {
        if (!readers[worker]) {
          readers[worker] = std::make_unique<RecordReader>(state.storage(), options.verify);
        }
        return check_row(state, *snapshot, rows[i], *readers[worker]);
      },
      [&](std::size_t i, RowReport&& row) {
        if (options.progress) {
          options.progress(i + 1, rows.size());
        }
        report.records += row.records;
        report.unprotected += row.unprotected;
        report.bytes += row.bytes;
        std::for_each(row.problems.begin(), row.problems.end(), add);
        if (!row.event_file.empty()) {
          event_files.insert(std::move(row.event_file));
        }
        return true;
      });
  report.event_files = event_files.size();
  NameCheck(state, std::move(event_files), add).folder("", 0);
  return report;
}

}  // namespace smd
