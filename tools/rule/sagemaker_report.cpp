// SPDX-License-Identifier: Apache-2.0
// sagemaker: DebugRuleEvaluationStatuses, as describe-training-job prints them.
#include "cli/escape.hpp"
#include "report.hpp"

#include <utility>

namespace smd::tool::rule {

namespace {

class SagemakerReport : public Report {
 public:
  explicit SagemakerReport(ReportContext context) : context_(std::move(context)) {}

  void result(const ReportRecord& record) override {
    const RuleResult& result = record.result;
    const bool nothing = result.status == RuleStatus::not_evaluated;
    std::string details;
    if (record.finding != nullptr) {
      details = "RuleEvaluationConditionMet: Evaluation of the rule " + result.rule + " at step " +
                (record.finding->step ? std::to_string(record.finding->step->value) : "-") +
                " resulted in the condition being met";
    } else if (nothing) {
      details = "InsufficientInformationForRuleInvocation: " + result.message;
    } else {
      details = result.message;
    }
    for (const std::string& warning : result.warnings) {
      details += (details.empty() ? "warning: " : "; warning: ") + warning;
    }
    std::string text = any_ ? ",\n" : "{\"DebugRuleEvaluationStatuses\":[\n";
    any_ = true;
    text += "{\"RuleConfigurationName\":";
    append_json(text, result.name);
    text += ",\"RuleEvaluationStatus\":";
    append_json(text, to_string(nothing ? RuleStatus::error : result.status));
    if (!details.empty()) {
      text += ",\"StatusDetails\":";
      append_json(text, details);
    }
    context_.out.write(text + "}");
  }

  void end() override { context_.out.write(any_ ? "\n]}\n" : "{\"DebugRuleEvaluationStatuses\":[]}\n"); }

 private:
  ReportContext context_;
  bool any_ = false;
};

}  // namespace

std::unique_ptr<Report> make_sagemaker_report(const ReportContext& context) {
  return std::make_unique<SagemakerReport>(context);
}

}  // namespace smd::tool::rule
