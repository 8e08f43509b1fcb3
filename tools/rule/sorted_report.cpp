// SPDX-License-Identifier: Apache-2.0
#include "sorted_report.hpp"

#include "cli/errors.hpp"
#include "cli/text.hpp"
#include "rows/row_condition.hpp"
#include "rows/row_order.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace smd::tool::rule {

namespace {

std::vector<std::size_t> sort_columns(const std::vector<SortKey>& sort) {
  std::vector<std::size_t> columns;
  columns.reserve(sort.size());
  for (const SortKey& key : sort) {
    columns.push_back(record_key("--sort", key.column));
  }
  return columns;
}

class SortedReport : public Report {
 public:
  SortedReport(std::unique_ptr<Report> report, const OutputOptions& options)
      : report_(std::move(report)),
        columns_(sort_columns(options.sort)),
        holds_(!options.sort.empty() || options.limit),
        records_(options.sort, options.limit) {
    for (const Comparison& condition : options.where) {
      where_.emplace_back(record_key("--where", condition.name), RowCondition(condition));
    }
  }

  void finding(const ReportRecord& record) override { add(record); }
  void result(const ReportRecord& record) override { add(record); }
  void flush() override {
    if (!holds_) {
      report_->flush();
    }
  }
  void end() override {
    records_.take_all([&](const OwnedRecord& own) { pass(own.view()); });
    report_->end();
  }

 private:
  void pass(const ReportRecord& record) {
    record.kind == RecordKind::finding ? report_->finding(record) : report_->result(record);
  }

  void add(const ReportRecord& record) {
    const std::vector<Cell>& cells = cells_.fill(record);
    for (auto& [column, condition] : where_) {
      if (!condition.holds(cells[column])) {
        return;
      }
    }
    if (!holds_) {
      pass(record);
      return;
    }
    std::vector<SortValue> values;
    for (const std::size_t column : columns_) {
      values.emplace_back(cells[column]);
    }
    records_.add(std::move(values), [&] { return OwnedRecord(record); });
  }

  std::unique_ptr<Report> report_;
  std::vector<std::size_t> columns_;
  std::vector<std::pair<std::size_t, RowCondition>> where_;
  bool holds_;  // until the end; else records pass as they come
  RecordCells cells_;
  SortedRows<OwnedRecord> records_;
};

}  // namespace

std::unique_ptr<Report> make_sorted_report(std::unique_ptr<Report> report, const OutputOptions& options) {
  return std::make_unique<SortedReport>(std::move(report), options);
}

}  // namespace smd::tool::rule
