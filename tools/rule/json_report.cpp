// SPDX-License-Identifier: Apache-2.0
// json: one array of records; jsonl: the same objects, one a line. Findings and results have keys of their own.
#include "cli/exit_status.hpp"
#include "cli/text.hpp"
#include "report.hpp"

#include <algorithm>

namespace smd::tool::rule {

namespace {

std::vector<std::size_t> chosen_keys(const std::vector<std::string>& columns) {
  std::vector<std::size_t> chosen;
  chosen.reserve(columns.size());
  for (const std::string& name : columns) {
    chosen.push_back(record_key("--columns", name));
  }
  return chosen;
}

class JsonReport : public Report {
 public:
  JsonReport(const ReportContext& context, bool lines)
      : context_(context), lines_(lines), chosen_(chosen_keys(context.options.columns)) {}

  void finding(const ReportRecord& record) override { write(record); }
  void result(const ReportRecord& record) override { write(record); }

  void end() override {
    if (!lines_) {
      context_.out.write(written_ > 0 ? "\n]\n" : "[]\n");
    } else if (context_.part) {
      PartLine part = *context_.part;
      part.records = written_;
      part.status = context_.messages.status();
      context_.out.write(to_json(part) + "\n");
    }
  }

 private:
  void write(const ReportRecord& record) {
    const std::string json = record_json(record, chosen_, context_.options.precision, context_.options.nonfinite);
    if (lines_) {
      context_.out.write(json + "\n");
      context_.out.flush();
    } else {
      context_.out.write((written_ > 0 ? ",\n" : "[\n") + json);
    }
    ++written_;
  }

  ReportContext context_;
  bool lines_;
  std::uint64_t written_ = 0;
  std::vector<std::size_t> chosen_;
};

}  // namespace

std::unique_ptr<Report> make_json_report(const ReportContext& context) {
  return std::make_unique<JsonReport>(context, context.options.format == "jsonl");
}

}  // namespace smd::tool::rule
