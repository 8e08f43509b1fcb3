// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/diagnostics.hpp"
#include "cli/output_file.hpp"
#include "record.hpp"
#include "rows/output_options.hpp"
#include "rows/row_writer.hpp"

namespace smd::tool::rule {

/// One report in one format. Records come trial by trial; a finding before its result. A new format is a file that
/// makes one, and a line in the table of `reports.cpp`.
class Report {
 public:
  virtual ~Report() = default;
  /// Called with -k, and if only findings are wanted.
  virtual void finding(const ReportRecord&) {}
  virtual void result(const ReportRecord& record) = 0;
  /// Writes what there is: the next record may take long.
  virtual void flush() {}
  /// After the last record. Does not close the file.
  virtual void end() {}
};

/// Takes records, trial by trial; a finding before its result.
class ReportSink {
 public:
  virtual ~ReportSink() = default;
  virtual void finding(const ReportRecord& record) = 0;
  virtual void result(const ReportRecord& record) = 0;
};

/// What a report is made from; everything must outlive the report.
struct ReportContext {
  OutputFile& out;
  const OutputOptions& options;
  bool several_trials;
  std::size_t rule_width;  ///< Of the longest name.
  Diagnostics& messages;
  std::optional<PartLine> part = {};  ///< Of a part: what JSON lines end with, once number and status are known.
};

/// The columns of findings and results, except `trial`.
[[nodiscard]] std::vector<Column> record_columns();

std::unique_ptr<Report> make_text_report(const ReportContext& context);
std::unique_ptr<Report> make_rows_report(const ReportContext& context);
std::unique_ptr<Report> make_json_report(const ReportContext& context);
std::unique_ptr<Report> make_junit_report(const ReportContext& context);
std::unique_ptr<Report> make_tap_report(const ReportContext& context);
std::unique_ptr<Report> make_github_report(const ReportContext& context);
std::unique_ptr<Report> make_sagemaker_report(const ReportContext& context);

}  // namespace smd::tool::rule
