// SPDX-License-Identifier: Apache-2.0
// tsv, csv, and tables of chosen columns: findings and results as rows of one table.
#include "report.hpp"
#include "rows/row_writer.hpp"

namespace smd::tool::rule {

namespace {

constexpr std::size_t trial_key = 1;

class RowsReport : public Report {
 public:
  explicit RowsReport(const ReportContext& context)
      : held_(context.options.format == "table" || context.options.format == "text"),
        rows_(context.out, context.options, record_columns(), context.several_trials, context.messages) {}

  void finding(const ReportRecord& record) override { row(record); }
  void result(const ReportRecord& record) override { row(record); }
  void flush() override { rows_.end_step(); }
  void end() override { rows_.finish(); }

 private:
  void row(const ReportRecord& record) {
    std::vector<Cell> cells = cells_.fill(record);
    cells.erase(cells.begin() + trial_key);
    rows_.set_trial(record.trial);
    rows_.row(cells);
    if (!held_) {
      rows_.end_step();
    }
  }

  bool held_;  // a table takes its widths from several rows
  RowWriter rows_;
  RecordCells cells_;
};

}  // namespace

std::vector<Column> record_columns() {
  std::vector<Column> columns;
  for (const RecordKey& key : record_keys()) {
    if (key.name != "trial") {  // RowWriter's own
      columns.push_back({key.name, key.right ? Align::right : Align::left});
    }
  }
  return columns;
}

std::unique_ptr<Report> make_rows_report(const ReportContext& context) { return std::make_unique<RowsReport>(context); }

}  // namespace smd::tool::rule
