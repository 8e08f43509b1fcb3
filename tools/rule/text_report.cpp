// SPDX-License-Identifier: Apache-2.0
// text: a line for each result, for people.
#include "cli/text.hpp"
#include "report.hpp"

#include <unistd.h>

namespace smd::tool::rule {

namespace {

constexpr std::size_t status_width = 13;  // of NoIssuesFound

class TextReport : public Report {
 public:
  explicit TextReport(const ReportContext& context)
      : context_(context), color_(!context.options.file && use_color(context.options.terminal.color, STDOUT_FILENO)) {}

  void finding(const ReportRecord& record) override {
    line("finding", "", record);
    context_.out.flush();
  }
  void result(const ReportRecord& record) override {
    line(to_string(record.result.status), color_of(record.result.status), record);
    // On a terminal the messages beside the results already show them.
    for (std::size_t i = 0; !context_.out.is_terminal() && i < record.result.warnings.size(); ++i) {
      std::string text(status_width + 2, ' ');
      text += "warning: ";
      append_printable(text, record.result.warnings[i], context_.options.terminal.ascii);
      context_.out.write(text + "\n");
    }
    context_.out.flush();
  }

 private:
  static std::string_view color_of(RuleStatus status) {
    switch (status) {
      case RuleStatus::no_issues_found:
        return "\x1b[32m";
      case RuleStatus::issues_found:
      case RuleStatus::error:
        return "\x1b[31m";
      case RuleStatus::not_evaluated:
        return "\x1b[33m";
      case RuleStatus::in_progress:
        break;
    }
    return {};
  }

  void line(std::string_view status, std::string_view color, const ReportRecord& record) {
    const bool colored = color_ && !color.empty();
    std::string text(colored ? color : "");
    text += status;
    text += colored ? "\x1b[0m" : "";
    text.append(status_width - std::min(status_width, status.size()) + 2, ' ');
    if (context_.several_trials || context_.options.with_trial) {
      append_printable(text, record.trial, context_.options.terminal.ascii);
      text += "  ";
    }
    const std::string rule = printable(record.result.name, context_.options.terminal.ascii);
    text += rule;
    text.append(context_.rule_width - std::min(context_.rule_width, display_width(rule)) + 2, ' ');
    std::string words = result_text(record);
    if (record.finding != nullptr) {  // messages begin below each other as far as the widest place so far allows
      const std::size_t place = place_text(*record.finding).size();
      place_width_ = std::max(place_width_, place);
      words.insert(place, place == 0 ? 0 : place_width_ - place, ' ');
    }
    append_printable(text, words, context_.options.terminal.ascii);
    context_.out.write(text + "\n");
  }

  ReportContext context_;
  bool color_;
  std::size_t place_width_ = 0;
};

}  // namespace

std::unique_ptr<Report> make_text_report(const ReportContext& context) {
  // Columns are for tables.
  return context.options.columns.empty() ? std::make_unique<TextReport>(context) : make_rows_report(context);
}

}  // namespace smd::tool::rule
