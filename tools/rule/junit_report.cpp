// SPDX-License-Identifier: Apache-2.0
// junit: a test suite for each trial, a test case for each rule, as Ant's junitreport and CI systems read it.
#include <smd/version.hpp>

#include "cli/escape.hpp"
#include "cli/number_format.hpp"
#include "cli/text.hpp"
#include "report.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <unordered_map>
#include <utility>

namespace smd::tool::rule {

namespace {

/// Escapes text line by line: line breaks stay.
std::string xml_lines(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    out += xml(text.substr(0, end)) + "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string attribute(std::string_view name, std::string_view value) {
  return " " + std::string(name) + "=\"" + xml(value) + "\"";
}

/// Seconds without an exponent, which the schemas do not permit.
std::string seconds_text(double seconds) {
  const auto microseconds = static_cast<std::uint64_t>(std::llround(std::max(seconds, 0.0) * 1e6));
  std::string fraction = std::to_string(microseconds % 1000000);
  return std::to_string(microseconds / 1000000) + "." + std::string(6 - fraction.size(), '0') + fraction;
}

std::string time_stamp() {
  const std::time_t now = std::time(nullptr);
  std::tm parts = {};
  gmtime_r(&now, &parts);
  std::array<char, 32> text = {};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts)};
}

std::string host_name() {
  std::array<char, 256> name = {};
  return gethostname(name.data(), name.size() - 1) == 0 && name[0] != '\0' ? std::string(name.data()) : "localhost";
}

/// One test case, kept until the numbers of its suite are known.
struct Case {
  std::string name;
  std::string rule;
  RuleStatus status;
  std::string type;
  std::string message;
  std::string params;
  double elapsed;
};

struct Suite {
  std::string trial;
  std::vector<Case> cases;
  std::string warnings = {};
};

class JunitReport : public Report {
 public:
  explicit JunitReport(const ReportContext& context) : Report(context), started_(time_stamp()) {}

  void take(const ReportRecord& record) override {
    const RuleResult& result = record.result;
    // Records of trials that are followed at once come in turns.
    const auto [known, is_new] = numbers_.try_emplace(std::string(record.trial), suites_.size());
    if (is_new) {
      suites_.push_back({.trial = known->first, .cases = {}});
    }
    Suite& suite = suites_[known->second];
    std::string type = record.finding != nullptr ? record.finding->check : std::string(kind_of(result));
    if (type.empty()) {
      type = to_string(result.status);
    }
    std::string params;
    for (const auto& [name, text] : result.params) {
      params += text ? name + "=" + *text + " " : "";
    }
    suite.cases.push_back({result.name, result.rule.empty() ? result.name : result.rule, result.status, std::move(type),
                           result_text(record), std::move(params), result.elapsed});
    for (const std::string& warning : result.warnings) {
      suite.warnings += result.name + ": " + warning + "\n";
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
  static std::size_t count(const Suite& suite, RuleStatus status) {
    return static_cast<std::size_t>(
        std::count_if(suite.cases.begin(), suite.cases.end(), [&](const Case& one) { return one.status == status; }));
  }

  void write(const Suite& suite, std::size_t id) {
    double elapsed = 0;
    for (const Case& one : suite.cases) {
      elapsed += one.elapsed;
    }
    std::string text = "  <testsuite";
    text += attribute("name", suite.trial.empty() ? "-" : suite.trial) + attribute("package", "smd-rule");
    text += attribute("id", std::to_string(id)) + attribute("timestamp", started_) + attribute("hostname", host_name());
    text += attribute("tests", std::to_string(suite.cases.size()));
    text += attribute("failures", std::to_string(count(suite, RuleStatus::issues_found)));
    text += attribute("errors", std::to_string(count(suite, RuleStatus::error)));
    text += attribute("skipped",
                      std::to_string(count(suite, RuleStatus::not_evaluated) + count(suite, RuleStatus::in_progress)));
    text += attribute("time", seconds_text(elapsed)) + ">\n    <properties>\n      <property";
    text += attribute("name", "smd-rule") + attribute("value", version()) + "/>\n    </properties>\n";
    for (const Case& one : suite.cases) {
      append(text, one);
    }
    text += "    <system-out></system-out>\n    <system-err>" + xml_lines(suite.warnings) +
            "</system-err>\n  </testsuite>\n";
    context_.out.write(text);
  }

  static void append(std::string& text, const Case& one) {
    text += "    <testcase" + attribute("name", one.name) + attribute("classname", one.rule) +
            attribute("time", seconds_text(one.elapsed));
    const char* element = nullptr;
    switch (one.status) {
      case RuleStatus::issues_found:
        element = "failure";
        break;
      case RuleStatus::error:
        element = "error";
        break;
      case RuleStatus::not_evaluated:
      case RuleStatus::in_progress:
        text += ">\n      <skipped" + attribute("message", one.message) + "/>\n    </testcase>\n";
        return;
      case RuleStatus::no_issues_found:
        text += "/>\n";
        return;
    }
    text += ">\n      <" + std::string(element) + attribute("message", one.message) + attribute("type", one.type) +
            ">" +
            xml(one.message + (one.params.empty() ? "" : " with " + one.params.substr(0, one.params.size() - 1))) +
            "</" + element + ">\n    </testcase>\n";
  }

  std::string started_;
  std::vector<Suite> suites_;
  std::unordered_map<std::string, std::size_t> numbers_;  // of suites, by trial
};

}  // namespace

std::unique_ptr<Report> make_junit_report(const ReportContext& context) {
  return std::make_unique<JunitReport>(context);
}

}  // namespace smd::tool::rule
