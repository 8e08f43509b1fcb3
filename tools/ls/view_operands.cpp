// SPDX-License-Identifier: Apache-2.0
// Views of operands that need not be trials.
#include <fmt/format.h>

#include <utility>

#include "cli/progress.hpp"
#include "operands/operands.hpp"
#include "view.hpp"

namespace smd::tool::ls {
namespace {

std::vector<Column> check_columns(const LsOptions&) {
  return {{"file"}, {"offset", Align::right}, {.name = "problem", .prose = true}};
}

std::string report_text(const CheckReport& report) {
  if (!report.layout.has_checksums) {
    return fmt::format("{} files, {} tensors and numbers, {} bytes read", report.event_files, report.records,
                       report.bytes);
  }
  std::string text = fmt::format("{} index files, {} event files, {} records, {} bytes read", report.index_files,
                                 report.event_files, report.records, report.bytes);
  if (report.unprotected != 0) {
    text += "; " + std::to_string(report.unprotected) +
            " records are unprotected: they carry no checksum of their contents, so nobody can tell whether a bit of "
            "them was flipped";
  }
  return text;
}

/// Ends a check whose result is known.
struct Known {};

void print(const Problem& problem, Showing& to) {
  // Remarks, and notes about no file, are no rows: a complete trial may have them.
  if (problem.kind == ProblemKind::remark || problem.kind == ProblemKind::other_trial ||
      (problem.kind == ProblemKind::note && problem.file.empty())) {
    to.messages.report(problem, {});
    return;
  }
  to.rows.row({or_missing(problem.file), problem.offset, problem.text});
  // Every row reports something that a complete trial does not have, even while the job runs.
  to.messages.raise(ExitStatus::damaged);
  to.messages.raise(status_of(problem.kind));
  if (to.options.output.quiet) {
    throw Known();
  }
}

bool show_check(const std::string& operand, Showing& to) {
  to.rows.set_trial(operand);
  try {
    Progress progress("checking", 0);
    TrialOptions watched = to.options.reading.trial_options();
    say_remote(watched.remote, to.messages);
    watched.progress = [&progress](std::uint64_t done, std::uint64_t total) { progress.at(done, total); };
    const CheckReport report = check_trial(operand, watched, [&](const Problem& problem) { print(problem, to); });
    to.messages.info(operand + ": " + report_text(report));
    if (!report.layout.has_checksums && report.unprotected != 0 && !std::exchange(to.said_unprotected, true)) {
      to.messages.note("checkpoints have no checksum, so nothing tells whether elements were changed");
    }
  } catch (const Known&) {
    return true;
  } catch (const Error& error) {
    fail_to_open(error, operand, to.messages, hint_for(operand, to.options.operands));
  }
  return true;
}

bool show_found(const std::string& operand, Showing& to) {
  const std::vector<std::string> paths = found_trials(operand, to.options.reading, to.messages);
  for (const std::string& path : paths) {
    to.rows.set_trial(path);
    to.rows.row({});
  }
  return !paths.empty();
}

}  // namespace

constinit const ViewSpec check_view = {
    .option = "check", .selects = false, .columns = check_columns, .show_operand = show_check};

/// Its only column is `trial`, which every view has.
constinit const ViewSpec find_view = {.option = "find",
                                      .selects = false,
                                      .columns = [](const LsOptions&) { return std::vector<Column>(); },
                                      .show_operand = show_found};

}  // namespace smd::tool::ls
