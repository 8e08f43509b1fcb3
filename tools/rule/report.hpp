// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/diagnostics.hpp"
#include "cli/output_file.hpp"
#include "record.hpp"
#include "rows/output_options.hpp"
#include "rows/row_writer.hpp"

namespace smd::tool::rule {

/// Takes records, trial by trial; a finding before its result.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  virtual void take(const ReportRecord& record) = 0;
};

/// What a report is made from; everything must outlive the report.
struct ReportContext {
  OutputFile& out;
  const OutputOptions& options;
  bool several_trials;
  std::size_t rule_width;  ///< Of the longest name.
  Diagnostics& messages;
  std::optional<PartLine> part = {};  ///< Of a part: what JSON lines end with, once number and status are known.
  bool warned = false;                ///< Messages at the same place show the results' warnings.
};

/// One report in one format. A new format is a class, and a line in the table of `report_formats.cpp`.
class Report : public RecordSink {
 public:
  explicit Report(ReportContext context) : context_(std::move(context)) {}
  /// Writes what there is: the next record may take long.
  virtual void flush() {}
  /// After the last record. Does not close the file.
  virtual void end() {}

 protected:
  const ReportContext context_;
};

struct ReportFormat {
  std::string_view name;
  bool records;  ///< A row or line for each record, in any order; others take results only.
  std::unique_ptr<Report> (*make)(const ReportContext&);
};

/// Precondition: the format is one of `report_formats`.
[[nodiscard]] const ReportFormat& report_format(std::string_view name);

/// The columns of findings and results, except `trial`.
[[nodiscard]] std::vector<Column> record_columns();

}  // namespace smd::tool::rule
