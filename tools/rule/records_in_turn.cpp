// SPDX-License-Identifier: Apache-2.0
#include "records_in_turn.hpp"

namespace smd::tool::rule {

void RecordsInTurn::show() {
  for (const OwnedRecord& record : held_) {
    hand_on(record.view());
  }
  held_.clear();
}

void RecordsInTurn::take(const ReportRecord& record) {
  if (!turn_.mine()) {
    if (held_.size() < most_held) {
      held_.emplace_back(record);
      return;
    }
    turn_.wait();
  }
  show();
  hand_on(record);
}

void RecordsInTurn::hand_on(const ReportRecord& record) {
  record.kind == RecordKind::finding ? to_.finding(record) : to_.result(record);
}

}  // namespace smd::tool::rule
