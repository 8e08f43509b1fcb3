// SPDX-License-Identifier: Apache-2.0
#include "reports.hpp"

#include "cli/exit_status.hpp"
#include "cli/text.hpp"
#include "rows/row_order.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smd::tool::rule {

namespace {

struct KnownFormat {
  std::string_view name;
  std::unique_ptr<Report> (*make)(const ReportContext&);
  bool rows;  ///< A row or line for each record, in any order.
};

// The one table of formats.
constexpr std::array<KnownFormat, 10> formats = {{
    {"text", make_text_report, true},
    {"table", make_text_report, true},
    {"tsv", make_rows_report, true},
    {"csv", make_rows_report, true},
    {"json", make_json_report, true},
    {"jsonl", make_json_report, true},
    {"junit", make_junit_report, false},
    {"tap", make_tap_report, false},
    {"github", make_github_report, false},
    {"sagemaker", make_sagemaker_report, false},
}};

constexpr std::array<std::string_view, formats.size()> names = [] {
  std::array<std::string_view, formats.size()> all;
  for (std::size_t i = 0; i < formats.size(); ++i) {
    all[i] = formats[i].name;
  }
  return all;
}();

const KnownFormat& find(std::string_view name) {
  for (const KnownFormat& format : formats) {
    if (format.name == name) {
      return format;
    }
  }
  return formats.front();  // names were checked with the command line
}

}  // namespace

std::span<const std::string_view> report_formats() noexcept { return names; }

Reports::Reports(const RuleCommandOptions& options, bool several_trials, std::size_t rule_width, Diagnostics& messages,
                 const std::optional<PartLine>& part, bool any_rule) {
  const auto has_rows = [&](std::string_view format) { return any_rule || (format != "tsv" && format != "table"); };
  destinations_.push_back({options.output, options.output.open(), options.keep_going || options.findings_only,
                           !options.findings_only && has_rows(options.output.format)});
  for (const ReportSpec& spec : options.reports) {
    OutputOptions own = options.output;
    own.format = spec.format;
    own.file = spec.file;
    own.columns.clear();
    OutputFile out = own.open();
    destinations_.push_back({std::move(own), std::move(out), options.keep_going, has_rows(spec.format)});
  }
  const bool ordered = !options.output.sort.empty() || options.output.limit || !options.output.where.empty();
  if (ordered && !find(options.output.format).rows) {
    const std::string_view option = !options.output.sort.empty() ? "--sort"
                                    : options.output.limit       ? "--limit"
                                                                 : "--where";
    throw UsageError(std::string(option) + ": there are no rows in -f " + options.output.format);
  }
  for (Destination& to : destinations_) {
    to.options.sort.clear();
    to.options.limit.reset();
    to.options.where.clear();
    to.report = find(to.options.format).make({to.out, to.options, several_trials, rule_width, messages, part});
  }
  if (ordered) {
    std::unique_ptr<Report>& printed = destinations_.front().report;
    printed = make_sorted_report(std::move(printed), options.output);
  }
}

Reports::~Reports() = default;

void Reports::finding(const ReportRecord& record) {
  for (Destination& to : destinations_) {
    if (to.findings) {
      to.report->finding(record);
    }
  }
}

void Reports::result(const ReportRecord& record) {
  for (Destination& to : destinations_) {
    if (to.results) {
      to.report->result(record);
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
