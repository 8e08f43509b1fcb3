// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "cli/in_turn.hpp"
#include "report.hpp"

namespace smd::tool::rule {

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

}  // namespace smd::tool::rule
