// SPDX-License-Identifier: Apache-2.0
#include "storage/element_source.hpp"
#include "text/escape.hpp"
#include "text/words.hpp"
#include "trial/trial_state.hpp"

#include <smd/parallel.hpp>
#include <smd/trial.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>
#include <utility>

namespace smd {

using detail::layout::StepRow;
using detail::trial::Records;
using detail::trial::Snapshot;
using detail::trial::TrialState;

namespace {

/// The result of checking one row's values.
struct RowReport {
  std::string file;
  std::uint64_t records = 0;
  std::uint64_t unprotected = 0;
  std::uint64_t bytes = 0;
  std::vector<Problem> problems;
  /// Tensors that have values without elements, and elements of a type that is not read.
  std::vector<std::string_view> empty;
  std::vector<std::pair<std::string, std::string_view>> unread;  // by why
};

/// Reads every value that a row names, including repeated ones.
RowReport check_row(const Records& records, const Snapshot& snapshot, const StepRow& row, ValueReader& reader) {
  RowReport report;
  const detail::layout::Payload payload = snapshot.catalog.payload(row);
  const detail::trial::ItemList& list = snapshot.catalog.items(row);
  const std::shared_ptr<const std::string> file = records.file(snapshot, row);
  for (std::uint32_t position = 0; position < payload.count; ++position) {
    const Place place = records.place(snapshot, row, position, file);
    report.file = *file;
    ++report.records;
    report.bytes += place.length;
    const std::string_view name = snapshot.catalog.stored_names()[list.names[position]];
    bool has_checksum =
        place.form() != ValueForm::elements || (place.type->source && place.type->source->has_checksums);
    if (place.form() == ValueForm::elements && !place.type->unread_type.empty()) {
      report.unprotected += has_checksum ? 0 : 1;
      report.unread.emplace_back(
          detail::trial::is_shape_alone(*place.type, place.length)
              ? "no elements in the file, only type and shape"
              : "elements of type " + detail::printable(place.type->unread_type) + ", which are listed, and not read",
          name);
      continue;
    }
    bool empty = false;
    const auto problem = reader.read(place, name, [&](Extent& value) {
      has_checksum = value.has_checksum();
      empty = value.size() == 0;
      value.in_any_order();
      value.verify_while_reading(0, value.size());
      (void)value.for_each_block([](std::span<const std::byte>) {});
    });
    report.unprotected += has_checksum || (problem && place.has_record()) ? 0 : 1;
    if (empty && (!problem || !place.has_record())) {
      report.empty.push_back(detail::layout::parse_stored_name(name).tensor);
    }
    if (problem) {
      report.problems.push_back(*problem);
      if (!problem->offset && place.has_record()) {
        break;  // the whole file's, so the same for each of its records
      }
    }
  }
  return report;
}

}  // namespace

CheckReport check_trial(const std::string& path, const TrialOptions& options,
                        const std::function<void(const Problem&)>& report_problem) {
  TrialOptions all = options;
  all.range_steps = {};
  all.auto_refresh = false;
  all.strict = false;
  const Trial trial = detail::TrialAccess::open(path, all, {});
  TrialState& state = detail::TrialAccess::state(trial);
  const std::shared_ptr<const Snapshot> snapshot = state.snapshot();
  CheckReport report{.layout = state.traits()};
  const std::function<void(Problem)> add = [&](const Problem& problem) {
    report.damaged = report.damaged || problem.kind == ProblemKind::damaged;
    report_problem(problem);
  };
  if (!state.layout().collections_place().empty()) {  // otherwise collections are made from names, without patterns
    for (const auto& [name, collection] : *snapshot->collections->collections) {
      detail::MatchBudget none(0);  // the query has no patterns
      // Records problems of the collection's patterns.
      (void)select_ids(state, *snapshot, {.collections = {name}}, none);
    }
  }
  std::unordered_set<std::string> reported;
  for (const Problem& problem : state.problems()) {
    add(problem);
    reported.insert(to_string(problem));
  }
  report.index_files = snapshot->listing->named ? snapshot->listing->named->files.size() : 0;

  std::vector<StepRow> rows;
  for (const detail::trial::Step& step : snapshot->steps) {
    const std::span<const StepRow> of_step = snapshot->rows_of(step);
    rows.insert(rows.end(), of_step.begin(), of_step.end());
  }
  std::unordered_set<std::string> event_files;
  std::set<std::string_view> empty;
  std::map<std::string, std::set<std::string_view>> unread;
  const ParallelLoop loop = {.count = rows.size(), .jobs = state.jobs()};
  std::vector<RowReport> reports(loop.slots());
  parallel_read(
      trial, loop, {},
      [&](const LoopIndex& at, ValueReader& reader) {
        reports[at.slot] = check_row(state.records(), *snapshot, rows[at.index], reader);
      },
      [&](const LoopIndex& at) {
        RowReport& row = reports[at.slot];
        if (options.progress) {
          options.progress(at.index + 1, rows.size());
        }
        report.records += row.records;
        report.unprotected += row.unprotected;
        report.bytes += row.bytes;
        std::ranges::for_each(row.problems, add);
        empty.insert(row.empty.begin(), row.empty.end());
        for (auto& [what, name] : row.unread) {
          unread[std::move(what)].insert(name);
        }
        if (!row.file.empty()) {
          event_files.insert(std::move(row.file));
        }
        return true;
      });
  report.event_files = event_files.size();
  state.layout().check_names(state.storage(), *snapshot->listing, event_files, [&](const Problem& problem) {
    if (!reported.contains(to_string(problem))) {
      add(problem);
    }
  });
  const auto remark = [&](const std::set<std::string_view>& names, const std::string& what) {
    add(detail::make_problem(ProblemKind::remark, text::counted(names.size(), "tensor", "has", "have") + " " + what +
                                                      ": " + text::first_names({names.begin(), names.end()})));
  };
  for (const auto& [what, names] : unread) {
    remark(names, what);
  }
  if (!empty.empty()) {
    remark(empty, "no elements");
  }
  return report;
}

}  // namespace smd
