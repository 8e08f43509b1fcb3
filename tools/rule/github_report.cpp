// SPDX-License-Identifier: Apache-2.0
// github: workflow commands, which GitHub Actions shows as annotations.
#include "cli/text.hpp"
#include "report.hpp"

#include <utility>

namespace smd::tool::rule {

namespace {

/// Encodes text as GitHub decodes it: % CR LF everywhere, in properties : and , too.
std::string encoded(std::string_view text, bool property) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '%':
        out += "%25";
        break;
      case '\r':
        out += "%0D";
        break;
      case '\n':
        out += "%0A";
        break;
      case ':':
        out += property ? "%3A" : ":";
        break;
      case ',':
        out += property ? "%2C" : ",";
        break;
      default:
        out += c;
    }
  }
  return out;
}

class GithubReport : public Report {
 public:
  explicit GithubReport(ReportContext context) : context_(std::move(context)) {}

  void result(const ReportRecord& record) override {
    switch (record.result.status) {
      case RuleStatus::issues_found:
      case RuleStatus::error:
        annotate("::error", record, result_text(record));
        break;
      case RuleStatus::not_evaluated:
        annotate("::warning", record, result_text(record));
        break;
      case RuleStatus::no_issues_found:
      case RuleStatus::in_progress:
        break;  // an annotation for each healthy rule would hide the others: GitHub shows ten
    }
    for (const std::string& warning : record.result.warnings) {
      annotate("::warning", record, warning);
    }
    context_.out.flush();
  }

 private:
  void annotate(std::string_view command, const ReportRecord& record, const std::string& text) {
    context_.out.write(std::string(command) + " title=" + shown(encoded(record.result.name, true)) +
                       "::" + shown(encoded(std::string(record.trial) + ": " + text, false)) + "\n");
  }

  [[nodiscard]] std::string shown(const std::string& text) const {
    return context_.out.is_terminal() ? printable(text, context_.options.terminal.ascii) : text;
  }

  ReportContext context_;
};

}  // namespace

std::unique_ptr<Report> make_github_report(const ReportContext& context) {
  return std::make_unique<GithubReport>(context);
}

}  // namespace smd::tool::rule
