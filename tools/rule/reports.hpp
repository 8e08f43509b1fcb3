// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/diagnostics.hpp"
#include "operands/operands.hpp"
#include "options.hpp"
#include "report.hpp"
#include "rows/output_options.hpp"

#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace smd::tool::rule {

/// Standard output (or -o) and all --report files: each record goes to all of them.
class Reports : public RecordSink {
 public:
  /// Creates the files, so that files that cannot be written are reported before any work is done. `rule_width`: the
  /// longest rule's name. `part`: what reports are about, if not the whole. `any_rule`: whether any rule is evaluated;
  /// if not, tables have no rows, and messages say why.
  /// @throws UsageError, OutputError.
  Reports(const RuleCommandOptions& options, bool several_trials, std::size_t rule_width, Diagnostics& messages,
          const std::optional<PartLine>& part = {}, bool any_rule = true);

  /// Findings go to the reports that want them.
  void take(const ReportRecord& record) override;
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
class RecordsInTurn : public RecordSink {
 public:
  RecordsInTurn(RecordSink& to, Turn& turn) : to_(to), turn_(turn) {}

  void take(const ReportRecord& record) override;
  /// Passes on what is held, once the turn has come.
  void show();

 private:
  static constexpr std::size_t most_held = 256;

  RecordSink& to_;
  Turn& turn_;  // valid during the visit
  std::vector<OwnedRecord> held_;
};

/// Reports the results in files of JSON lines as if one run had evaluated all trials: parts of one whole in the order
/// of their trials, other results as they are given. The status is that of the whole. Lines that are no results, parts
/// that were cut off and missing parts are reported; the others count.
/// Files are read twice, a line at a time.
/// @throws UsageError if parts do not belong together.
void merge_results(const std::vector<std::string>& files, const RuleCommandOptions& options, Diagnostics& messages);

}  // namespace smd::tool::rule
