// SPDX-License-Identifier: Apache-2.0
#include "reports.hpp"

#include "cli/errors.hpp"
#include "sorted_report.hpp"

#include <array>
#include <exception>
#include <string_view>
#include <utility>

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

}  // namespace smd::tool::rule
