// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/diagnostics.hpp"
#include "operands/in_turn.hpp"
#include "options.hpp"
#include "report.hpp"
#include "rows/output_options.hpp"

#include <deque>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace smd::tool::rule {

/// Standard output (or -o) and all --report files: each record goes to all of them.
class Reports : public ReportSink {
 public:
  /// Creates the files, so that files that cannot be written are reported before any work is done. `rule_width`: the
  /// longest rule's name. `part`: what reports are about, if not the whole. `any_rule`: whether any rule is evaluated;
  /// if not, tables have no rows, and messages say why.
  /// @throws UsageError, OutputError.
  Reports(const RuleCommandOptions& options, bool several_trials, std::size_t rule_width, Diagnostics& messages,
          const std::optional<PartLine>& part = {}, bool any_rule = true);
  Reports(const Reports&) = delete;
  Reports& operator=(const Reports&) = delete;
  ~Reports() override;

  /// Goes to the reports that want findings.
  void finding(const ReportRecord& record) override;
  void result(const ReportRecord& record) override;
  /// Writes what there is: the next record may take long.
  void flush();
  /// Call it after the last record: renames all files into place. @throws OutputError.
  void close();

 private:
  struct Destination {
    OutputOptions options;
    OutputFile out;
    bool findings;  ///< Whether findings are wanted as they are made,
    bool results;   ///< and whether results are.
    std::unique_ptr<Report> report = nullptr;
  };
  std::deque<Destination> destinations_;
};

/// Takes the records of one of several trials that are evaluated side by side, and holds them until the trials before
/// it were shown: `most_held` at most, then the evaluation waits for its turn.
class RecordsInTurn : public ReportSink {
 public:
  RecordsInTurn(ReportSink& to, Turn& turn) : to_(to), turn_(turn) {}

  void finding(const ReportRecord& record) override { take(record); }
  void result(const ReportRecord& record) override { take(record); }

  /// Passes on what is held, once the turn has come.
  void show();

 private:
  void take(const ReportRecord& record);
  void hand_on(const ReportRecord& record);

  static constexpr std::size_t most_held = 256;

  ReportSink& to_;
  Turn& turn_;  // valid during the visit
  std::vector<OwnedRecord> held_;
};

/// Sorts the records of another report, and leaves out those for which --where does not hold: holds them until the end,
/// with --limit no more than that many. `options` must outlive it.
/// @throws UsageError for a column that records do not have.
std::unique_ptr<Report> make_sorted_report(std::unique_ptr<Report> report, const OutputOptions& options);

}  // namespace smd::tool::rule
