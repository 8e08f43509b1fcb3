// SPDX-License-Identifier: Apache-2.0
#include "reports.hpp"

#include "cli/exit_status.hpp"
#include "cli/mapped.hpp"
#include "cli/text.hpp"
#include "rows/row_order.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

namespace smd::tool::rule {

namespace {

/// Returns whether standard output and standard error are one terminal, pipe or file.
bool is_one_stream() {
  struct stat output = {};
  struct stat errors = {};
  return fstat(STDOUT_FILENO, &output) == 0 && fstat(STDERR_FILENO, &errors) == 0 && output.st_dev == errors.st_dev &&
         output.st_ino == errors.st_ino;
}

/// Sorts the records of another report, and leaves out those for which --where does not hold: holds them until the end,
/// with --limit no more than that many.
class SortedReport : public Report {
 public:
  /// `options` must outlive it. @throws UsageError for a column that records do not have.
  SortedReport(const ReportContext& context, std::unique_ptr<Report> report, const OutputOptions& options)
      : Report(context),
        report_(std::move(report)),
        asked_(options.where),
        holds_(!options.sort.empty() || options.limit),
        records_(options.sort, options.limit) {
    columns_ = mapped(options.sort, [](const SortKey& key) { return record_key("--sort", key.column); });
    where_ = mapped(options.where, [](const Comparison& condition) {
      return std::pair(record_key("--where", condition.name), RowCondition(condition));
    });
  }

  void take(const ReportRecord& record) override {
    const std::vector<Cell>& cells = cells_.fill(record);
    for (auto& [column, condition] : where_) {
      if (!condition.holds(cells[column])) {
        return;
      }
    }
    any_ = true;
    if (!holds_) {
      report_->take(record);
      return;
    }
    records_.add(mapped(columns_, [&](std::size_t column) { return SortValue(cells[column]); }),
                 [&] { return OwnedRecord::of(record); });
  }
  void flush() override {
    if (!holds_) {
      report_->flush();
    }
  }
  void end() override {
    records_.take_all([&](const OwnedRecord& own) { report_->take(own.view()); });
    report_->end();
    if (!any_ && !asked_.empty()) {
      say_no_row(asked_, context_.messages);
    }
  }

 private:
  std::unique_ptr<Report> report_;
  const std::vector<Comparison>& asked_;  // by --where
  bool any_ = false;                      // whether a record met them
  std::vector<std::size_t> columns_;
  std::vector<std::pair<std::size_t, RowCondition>> where_;
  bool holds_;  // until the end; else records pass as they come
  RecordCells cells_;
  SortedRows<OwnedRecord> records_;
};

}  // namespace

Reports::Reports(const RuleCommandOptions& options, bool several_trials, std::size_t rule_width, Diagnostics& messages,
                 const std::optional<PartLine>& part, bool any_rule) {
  const auto add = [&](OutputOptions own, bool findings, bool results) {
    own.join_names({});  // refuses a column that is named twice
    const ReportFormat& format = report_format(own.format);
    OutputFile out = own.open();
    refuse_if(std::ranges::any_of(destinations_, [&](const auto& other) { return other.out.replaces_same(out); }),
              "--report: " + single_quoted(own.file.value_or("")) + " is named for another report");
    const bool empty = !any_rule && (own.format == "tsv" || own.format == "table");
    destinations_.push_back({std::move(own), std::move(out), findings && format.records, results && !empty});
  };
  add(options.output, options.keep_going || options.findings_only, !options.findings_only);
  for (const ReportSpec& spec : options.reports) {
    OutputOptions own = options.output;
    own.format = spec.format;
    own.file = spec.file;
    own.columns.clear();
    add(std::move(own), options.keep_going, true);
  }
  refuse_if(options.output.asks_for_rows() && !report_format(options.output.format).records,
            std::string(options.output.row_option()) + ": there are no rows in -f " + options.output.format);
  const bool ordered = !options.output.sort.empty() || options.output.limit || !options.output.where.empty();
  const bool warned = !options.merge && is_one_stream();
  for (Destination& to : destinations_) {
    to.options.sort.clear();
    to.options.limit.reset();
    to.options.where.clear();
    const ReportContext context{
        to.out, to.options, several_trials, rule_width, messages, part, warned && !to.options.file};
    to.report = report_format(to.options.format).make(context);
    if (ordered && &to == &destinations_.front()) {
      to.report = std::make_unique<SortedReport>(context, std::move(to.report), options.output);
    }
  }
}

void Reports::take(const ReportRecord& record) {
  for (Destination& to : destinations_) {
    if (record.kind == RecordKind::finding ? to.findings : to.results) {
      to.report->take(record);
    }
  }
}

void Reports::flush() {
  for (Destination& to : destinations_) {
    to.report->flush();
  }
}

void Reports::close() {
  std::exception_ptr failure;
  for (Destination& to : destinations_) {
    try {
      to.report->end();
      to.out.close();
    } catch (const OutputError&) {
      failure = failure ? failure : std::current_exception();  // the other files are complete all the same
    }
  }
  if (failure) {
    std::rethrow_exception(failure);
  }
}

void RecordsInTurn::show() {
  for (const OwnedRecord& record : held_) {
    to_.take(record.view());
  }
  held_.clear();
}

void RecordsInTurn::take(const ReportRecord& record) {
  if (!turn_.mine()) {
    if (held_.size() < most_held) {
      held_.push_back(OwnedRecord::of(record));
      return;
    }
    turn_.wait();
  }
  show();
  to_.take(record);
}

}  // namespace smd::tool::rule
