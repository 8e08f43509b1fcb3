// SPDX-License-Identifier: Apache-2.0
#include <smd/version.hpp>

#include "cli/escape.hpp"
#include "cli/mapped.hpp"
#include "cli/text.hpp"
#include "options.hpp"
#include "report.hpp"
#include "rows/row_writer.hpp"

#include <fmt/chrono.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <map>
#include <unordered_map>

namespace smd::tool::rule {

namespace {

constexpr std::size_t status_width = 13;  // of NoIssuesFound

/// text: a line for each record, for people.
class TextReport : public Report {
 public:
  explicit TextReport(const ReportContext& context)
      : Report(context), color_(!context.options.file && use_color(context.options.terminal.color, STDOUT_FILENO)) {}

  void take(const ReportRecord& record) override {
    const RuleResult& result = record.result;
    if (record.kind == RecordKind::finding) {
      line("finding", "", record);
    } else {
      line(to_string(result.status), color_of(result.status), record);
      for (std::size_t i = 0; !context_.warned && i < result.warnings.size(); ++i) {
        std::string text(status_width + 2, ' ');
        text += "warning: ";
        append_printable(text, result.warnings[i], context_.options.terminal.ascii);
        context_.out.write(text + "\n");
      }
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
    std::string text = color_ && !color.empty() ? fmt::format("{}{}\x1b[0m", color, status) : std::string(status);
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

  bool color_;
  std::size_t place_width_ = 0;
};

/// tsv, csv, and tables of chosen columns: findings and results as rows of one table.
class RowsReport : public Report {
 public:
  explicit RowsReport(const ReportContext& context)
      : Report(context),
        held_(context.options.format == "table" || context.options.format == "text"),
        rows_(context.out, context.options, record_columns(), context.several_trials, context.messages) {}

  void take(const ReportRecord& record) override {
    constexpr std::size_t trial_key = 1;
    std::vector<Cell> cells = cells_.fill(record);
    cells.erase(cells.begin() + trial_key);
    rows_.set_trial(record.trial);
    rows_.row(cells);
    if (!held_) {
      rows_.end_step();
    }
  }
  void flush() override { rows_.end_step(); }
  void end() override { rows_.finish(); }

 private:
  bool held_;  // a table takes its widths from several rows
  RowWriter rows_;
  RecordCells cells_;
};

/// json: one array of records; jsonl: the same objects, one a line. Findings and results have keys of their own.
class JsonReport : public Report {
 public:
  explicit JsonReport(const ReportContext& context) : Report(context), lines_(context.options.format == "jsonl") {
    if (context.options.columns != std::vector<std::string>{"all"}) {
      chosen_ = mapped(context.options.columns, [](const std::string& name) { return record_key("--columns", name); });
    }
  }

  void take(const ReportRecord& record) override {
    const std::string json = record_json(record, chosen_, context_.options.precision, context_.options.nonfinite);
    if (lines_) {
      context_.out.write(json + "\n");
      context_.out.flush();
    } else {
      context_.out.write((written_ > 0 ? ",\n" : "[\n") + json);
    }
    ++written_;
  }

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
  bool lines_;
  std::uint64_t written_ = 0;
  std::vector<std::size_t> chosen_;
};

/// tap: Test Anything Protocol, version 13, as prove reads it.
class TapReport : public Report {
 public:
  using Report::Report;

  void take(const ReportRecord& record) override {
    start();
    const RuleResult& result = record.result;
    const bool bad = result.status == RuleStatus::issues_found || result.status == RuleStatus::error;
    std::string text = (bad ? "not ok " : "ok ") + std::to_string(++count_) + " - ";
    text += context_.several_trials || context_.options.with_trial ? words(record.trial) + ": " : "";
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
  /// Text for one line of TAP, where # begins a directive.
  static std::string words(std::string_view text) {
    std::string out;
    append_replaced(out, printable(text), {{'#', "\\#"}});
    return out;
  }

  void start() {
    if (count_ == 0) {
      context_.out.write("TAP version 13\n");
    }
  }

  std::size_t count_ = 0;
};

/// github: workflow commands, which GitHub Actions shows as annotations.
class GithubReport : public Report {
 public:
  using Report::Report;

  void take(const ReportRecord& record) override {
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
  /// Encodes text as GitHub decodes it: % CR LF everywhere, in properties : and , too.
  static std::string encoded(std::string_view text, std::string_view special) {
    std::string out;
    for (const char c : text) {
      out += special.find(c) == std::string_view::npos ? std::string(1, c)
                                                       : fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return out;
  }

  void annotate(std::string_view command, const ReportRecord& record, const std::string& text) {
    context_.out.write(std::string(command) + " title=" + shown(encoded(record.result.name, "%\r\n:,")) +
                       "::" + shown(encoded(std::string(record.trial) + ": " + text, "%\r\n")) + "\n");
  }

  [[nodiscard]] std::string shown(const std::string& text) const {
    return context_.out.is_terminal() ? printable(text, context_.options.terminal.ascii) : text;
  }
};

/// sagemaker: DebugRuleEvaluationStatuses, as describe-training-job prints them.
class SagemakerReport : public Report {
 public:
  using Report::Report;

  void take(const ReportRecord& record) override {
    const RuleResult& result = record.result;
    const bool nothing = result.status == RuleStatus::not_evaluated;
    std::string details = nothing ? "InsufficientInformationForRuleInvocation: " + result.message : result.message;
    if (const Finding* const finding = record.finding; finding != nullptr) {
      details = "RuleEvaluationConditionMet: Evaluation of the rule " + result.rule + " at step " +
                (finding->step ? std::to_string(finding->step->value) : "-") + " resulted in the condition being met";
      details += finding->worker && finding->several_workers ? ", for " + *finding->worker : "";
    }
    for (const std::string& warning : result.warnings) {
      details += (details.empty() ? "warning: " : "; warning: ") + warning;
    }
    std::string text = std::exchange(any_, true) ? ",\n" : "{\"DebugRuleEvaluationStatuses\":[\n";
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
  bool any_ = false;
};

std::string attribute(std::string_view name, std::string_view value) {
  return " " + std::string(name) + "=\"" + xml(value) + "\"";
}

/// Seconds without an exponent, which the schemas do not permit.
std::string seconds_text(double seconds) { return fmt::format("{:.6f}", std::max(0.0, seconds)); }

std::string host_name() {
  std::array<char, 256> name = {};
  return gethostname(name.data(), name.size() - 1) == 0 && name[0] != '\0' ? std::string(name.data()) : "localhost";
}

/// The test cases of a trial, kept until their numbers are known.
struct Suite {
  std::string trial;
  std::string cases = {};  ///< As XML.
  std::map<RuleStatus, std::size_t> counts = {};
  double elapsed = 0;
  std::string warnings = {};  ///< As XML.
};

/// junit: a test suite for each trial, a test case for each rule, as Ant's junitreport and CI systems read it.
class JunitReport : public Report {
 public:
  using Report::Report;

  void take(const ReportRecord& record) override {
    const RuleResult& result = record.result;
    // Records of trials that are followed at once come in turns.
    const auto [known, is_new] = numbers_.try_emplace(std::string(record.trial), suites_.size());
    if (is_new) {
      suites_.push_back({.trial = known->first});
    }
    Suite& suite = suites_[known->second];
    ++suite.counts[result.status];
    suite.elapsed += result.elapsed;
    suite.cases += test_case(record);
    for (const std::string& warning : result.warnings) {
      suite.warnings += xml(result.name + ": " + warning) + "\n";
    }
  }

  void end() override {
    OutputFile& out = context_.out;
    out.write("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    for (std::size_t i = 0; i < suites_.size(); ++i) {
      write(suites_[i], i);
    }
    out.write("</testsuites>\n");
  }

 private:
  void write(Suite& suite, std::size_t id) {
    const std::size_t tests = sum_of(suite.counts, [](const auto& one) { return one.second; });
    const std::size_t skipped = suite.counts[RuleStatus::not_evaluated] + suite.counts[RuleStatus::in_progress];
    std::string text = "  <testsuite";
    text += attribute("name", suite.trial.empty() ? "-" : suite.trial) + attribute("package", "smd-rule");
    text += attribute("id", std::to_string(id)) + attribute("timestamp", started_) + attribute("hostname", host_name());
    text += attribute("tests", std::to_string(tests));
    text += attribute("failures", std::to_string(suite.counts[RuleStatus::issues_found]));
    text += attribute("errors", std::to_string(suite.counts[RuleStatus::error]));
    text += attribute("skipped", std::to_string(skipped));
    text += attribute("time", seconds_text(suite.elapsed)) + ">\n    <properties>\n      <property";
    text += attribute("name", "smd-rule") + attribute("value", version()) + "/>\n    </properties>\n" + suite.cases;
    text += "    <system-out></system-out>\n    <system-err>" + suite.warnings + "</system-err>\n  </testsuite>\n";
    context_.out.write(text);
  }

  static std::string test_case(const ReportRecord& record) {
    const RuleResult& result = record.result;
    const std::string message = result_text(record);
    const std::string text = "    <testcase" + attribute("name", result.name) +
                             attribute("classname", result.rule.empty() ? result.name : result.rule) +
                             attribute("time", seconds_text(result.elapsed));
    std::string element = "error";
    switch (result.status) {
      case RuleStatus::no_issues_found:
        return text + "/>\n";
      case RuleStatus::not_evaluated:
      case RuleStatus::in_progress:
        return text + ">\n      <skipped" + attribute("message", message) + "/>\n    </testcase>\n";
      case RuleStatus::issues_found:
        element = "failure";
        break;
      case RuleStatus::error:
        break;
    }
    std::string type = record.finding != nullptr ? record.finding->check : std::string(kind_of(result));
    if (type.empty()) {
      type = to_string(result.status);
    }
    std::string params;
    for (const auto& [name, given] : result.params) {
      params += given ? (params.empty() ? " with " : " ") + name + "=" + *given : "";
    }
    return text + ">\n      <" + element + attribute("message", message) + attribute("type", type) + ">" +
           xml(message + params) + "</" + element + ">\n    </testcase>\n";
  }

  std::string started_ = fmt::format("{:%FT%T}", fmt::gmtime(std::time(nullptr)));
  std::vector<Suite> suites_;
  std::unordered_map<std::string, std::size_t> numbers_;  // of suites, by trial
};

template <class Format>
std::unique_ptr<Report> make(const ReportContext& context) {
  return std::make_unique<Format>(context);
}

std::unique_ptr<Report> make_text(const ReportContext& context) {
  return context.options.columns.empty() ? make<TextReport>(context) : make<RowsReport>(context);
}

constexpr std::array<ReportFormat, 10> formats = {{
    {"text", true, make_text},
    {"table", true, make_text},
    {"tsv", true, make<RowsReport>},
    {"csv", true, make<RowsReport>},
    {"json", true, make<JsonReport>},
    {"jsonl", true, make<JsonReport>},
    {"junit", false, make<JunitReport>},
    {"tap", false, make<TapReport>},
    {"github", false, make<GithubReport>},
    {"sagemaker", false, make<SagemakerReport>},
}};

}  // namespace

std::span<const std::string_view> report_formats() {
  static const std::vector<std::string_view> names = mapped(formats, &ReportFormat::name);
  return names;
}

const ReportFormat& report_format(std::string_view name) {
  return *std::ranges::find(formats, name, &ReportFormat::name);
}

std::vector<Column> record_columns() {
  std::vector<Column> columns = mapped(record_keys(), [](const RecordKey& key) { return Column{key.name, key.align}; });
  std::erase_if(columns, [](const Column& column) { return column.name == "trial"; });  // RowWriter's own
  return columns;
}

}  // namespace smd::tool::rule
