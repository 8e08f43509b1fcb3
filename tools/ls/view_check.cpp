// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <utility>

#include "cli/progress.hpp"
#include "operands/operands.hpp"
#include "view.hpp"

namespace smd::tool::ls {
namespace {

constexpr std::array<Column, 3> check_columns = {{{"file"}, {"offset", Align::right}, {"problem"}}};

std::string report_text(const CheckReport& report) {
  if (!report.layout.has_checksums) {
    return std::to_string(report.event_files) + " files, " + std::to_string(report.records) + " tensors and numbers, " +
           std::to_string(report.bytes) + " bytes read";
  }
  std::string text = std::to_string(report.index_files) + " index files, " + std::to_string(report.event_files) +
                     " event files, " + std::to_string(report.records) + " records, " + std::to_string(report.bytes) +
                     " bytes read";
  if (report.unprotected != 0) {
    text += "; " + std::to_string(report.unprotected) +
            " records are unprotected: they carry no checksum of their contents, so nobody can tell whether a bit of "
            "them was flipped";
  }
  return text;
}

/// Ends a check whose result is known.
struct Known {};

class CheckView final : public View {
 public:
  using View::View;

  [[nodiscard]] std::span<const Column> columns() const override { return check_columns; }

  bool show(const std::string& operand, RowWriter& rows, Diagnostics& messages) override {
    rows.set_trial(operand);
    try {
      Progress progress("checking", 0);
      TrialOptions watched = options().reading.trial_options();
      say_remote(watched, messages);
      watched.progress = [&progress](std::uint64_t done, std::uint64_t total) { progress.at(done, total); };
      const CheckReport report =
          check_trial(operand, watched, [&](const Problem& problem) { print(problem, rows, messages); });
      messages.info(operand + ": " + report_text(report));
      if (!report.layout.has_checksums && report.unprotected != 0 && !std::exchange(said_unprotected_, true)) {
        messages.note("checkpoints have no checksum, so nothing tells whether elements were changed");
      }
    } catch (const Known&) {
      return true;
    } catch (const Error& error) {
      fail_to_open(error, operand, messages, hint_for(operand, options().operands));
    }
    return true;
  }

 private:
  bool said_unprotected_ = false;

  void print(const Problem& problem, RowWriter& rows, Diagnostics& messages) const {
    // Remarks, and notes about no file, are no rows: a complete trial may have them.
    if (problem.kind == ProblemKind::remark || problem.kind == ProblemKind::other_trial ||
        (problem.kind == ProblemKind::note && problem.file.empty())) {
      messages.report(problem, {});
      return;
    }
    rows.row({problem.file.empty() ? Cell() : Cell(problem.file), problem.offset ? Cell(*problem.offset) : Cell(),
              problem.text});
    // Every row reports something that a complete trial does not have, even while the job runs.
    messages.raise(ExitStatus::damaged);
    messages.raise(status_of(problem.kind));
    if (options().output.quiet) {
      throw Known();
    }
  }
};

}  // namespace

std::unique_ptr<View> make_check_view(const LsOptions& options) { return std::make_unique<CheckView>(options); }

}  // namespace smd::tool::ls
