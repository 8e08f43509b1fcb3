// SPDX-License-Identifier: Apache-2.0
// tap: Test Anything Protocol, version 13, as prove reads it.
#include "cli/escape.hpp"
#include "cli/text.hpp"
#include "report.hpp"

#include <utility>

namespace smd::tool::rule {

namespace {

/// Text for one line of TAP, where # begins a directive.
std::string words(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    out += c == '#' ? "\\#" : std::string(1, c);
  }
  return out;
}

class TapReport : public Report {
 public:
  explicit TapReport(ReportContext context) : context_(std::move(context)) {}

  void result(const ReportRecord& record) override {
    start();
    const RuleResult& result = record.result;
    const bool bad = result.status == RuleStatus::issues_found || result.status == RuleStatus::error;
    std::string text = (bad ? "not ok " : "ok ") + std::to_string(++count_) + " - ";
    if (context_.several_trials || context_.options.with_trial) {
      text += words(record.trial) + ": ";
    }
    text += words(result.name);
    if (result.status == RuleStatus::not_evaluated || result.status == RuleStatus::in_progress) {
      text += " # SKIP " + words(result_text(record));
    }
    text += "\n";
    if (bad) {
      // A JSON string is a YAML string.
      text += "  ---\n  message: ";
      append_json(text, result_text(record));
      text += "\n  severity: " + std::string(result.status == RuleStatus::error ? "error" : "fail");
      text += "\n  data: " + record_json(record, {}, context_.options.precision, NonFinite::string) + "\n  ...\n";
    }
    for (const std::string& warning : result.warnings) {
      text += "# warning: " + words(result.name) + ": " + words(warning) + "\n";
    }
    context_.out.write(text);
    context_.out.flush();
  }

  void end() override {
    start();
    context_.out.write("1.." + std::to_string(count_) + (count_ == 0 ? " # SKIP nothing to evaluate" : "") + "\n");
  }

 private:
  void start() {
    if (!started_) {
      context_.out.write("TAP version 13\n");
      started_ = true;
    }
  }

  ReportContext context_;
  std::size_t count_ = 0;
  bool started_ = false;
};

}  // namespace

std::unique_ptr<Report> make_tap_report(const ReportContext& context) { return std::make_unique<TapReport>(context); }

}  // namespace smd::tool::rule
