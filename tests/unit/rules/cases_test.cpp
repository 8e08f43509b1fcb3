// SPDX-License-Identifier: Apache-2.0
// The recorded results: every case of cases.json, beside the trials it is about: debugger trials and log directories.
#include "rule_support.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace {

using Json = nlohmann::json;

const smd::TrialOptions as_it_stands{.as_it_stands = true};

bool close(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= 1e-6 * std::abs(b);
}

std::optional<std::string> text_or_null(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional(json.get<std::string>());
}

void check_finding(const smd::Finding& finding, const Json& expected) {
  REQUIRE(finding.step.has_value());
  CHECK(finding.step->value == expected.at("step").get<std::int64_t>());
  CHECK(smd::to_string(finding.mode) == expected.at("mode").get<std::string>());
  CHECK(finding.tensor == text_or_null(expected.at("tensor")));
  CHECK(finding.worker == text_or_null(expected.at("worker")));
  CHECK(finding.check == expected.at("check").get<std::string>());
  INFO("value ", finding.value, " is to be ", expected.at("value").dump());
  CHECK(close(finding.value, smd::test::number_of(expected.at("value"))));
  CHECK(close(finding.threshold, smd::test::number_of(expected.at("threshold"))));
}

/// `damaged`: not all of the trial can be read.
void check_result(const smd::RuleResult& result, const Json& expected, bool damaged) {
  CHECK(result.rule == expected.at("rule").get<std::string>());
  if (expected.contains("error")) {
    const Json& error = expected.at("error");
    REQUIRE(result.error_kind.has_value());
    CHECK(smd::to_string(*result.error_kind) == error.at("kind").get<std::string>());
    CHECK(result.error_parameter == text_or_null(error.at("parameter")).value_or(""));
    return;
  }
  CHECK_FALSE(result.error_kind.has_value());
  CHECK(result.steps_evaluated == expected.at("evaluated_steps").get<std::size_t>());
  const Json& triggered = expected.at("fired");
  CHECK(result.status == (!triggered.empty()            ? smd::RuleStatus::issues_found
                          : damaged                     ? smd::RuleStatus::error
                          : result.steps_evaluated == 0 ? smd::RuleStatus::not_evaluated
                                                        : smd::RuleStatus::no_issues_found));
  CHECK(result.findings.size() == triggered.size());
  for (std::size_t i = 0; i < std::min(result.findings.size(), triggered.size()); ++i) {
    INFO("finding ", i, ": ", result.findings[i].message);
    check_finding(result.findings[i], triggered[i]);
  }
}

bool have_rule(const Json& one) {  // while some are still being written
  try {
    static_cast<void>(smd::describe_rule(one.value("rule", "")));
    return true;
  } catch (const smd::ConfigurationError&) {
    return one.at("expected").contains("error") && one.at("expected").at("error").at("kind") == "unknown_rule";
  }
}

void check_case(const std::string& root, const Json& one, bool keep_going) {
  smd::EvaluationOptions options;
  options.keep_going = keep_going;
  if (one.contains("start")) {
    options.start = smd::GlobalStep(one.at("start").get<std::int64_t>());
  }
  if (one.contains("end")) {
    options.end = smd::GlobalStep(one.at("end").get<std::int64_t>());
  }
  if (one.contains("now")) {
    options.now = [now = one.at("now").get<double>()] { return now; };
  }
  const std::string rule = one.at("rule");
  const Json& expected = one.at("expected");
  smd::ParameterTexts parameters = one.at("params").get<smd::ParameterTexts>();
  if (one.contains("other_trial")) {
    parameters["other_trial"] = root + one.at("other_trial").get<std::string>();
  }
  std::optional<smd::Trial> other;
  std::vector<const smd::Trial*> others;
  std::unique_ptr<smd::Rule> made;
  try {
    made = smd::make_rule(rule, parameters);
  } catch (const smd::ConfigurationError& error) {
    REQUIRE(expected.contains("error"));
    CHECK(smd::to_string(error.kind) == expected.at("error").at("kind").get<std::string>());
    CHECK(error.parameter == text_or_null(expected.at("error").at("parameter")).value_or(""));
    return;
  }
  if (expected.contains("error") && expected.at("error").at("kind") == "bad_trial") {
    CHECK_THROWS_AS(smd::Trial::open(root + one.at("trial").get<std::string>()), smd::ReadError);
    return;
  }
  if (one.contains("other_trial")) {
    other = smd::Trial::open(parameters.at("other_trial"), as_it_stands);
    others.push_back(&*other);
  }
  const smd::Trial trial = smd::Trial::open(root + one.at("trial").get<std::string>(), as_it_stands);
  const smd::RuleResult result = smd::test::result_of(trial, std::move(made), options, others);
  if (keep_going) {
    check_result(result, expected, one.value("damaged", false));
  } else if (!expected.at("fired").empty()) {  // the same, as far as it goes
    REQUIRE_FALSE(result.findings.empty());
    CHECK(result.findings.size() <= expected.at("fired").size());
    check_finding(result.findings.front(), expected.at("fired").front());
    CHECK(result.findings.front().step->value == expected.at("first").get<std::int64_t>());
  }
}

/// All cases beside the trials in a folder; returns how many there are.
std::size_t check_cases(const std::string& root) {
  std::ifstream file(root + "cases.json");
  REQUIRE(file);
  const Json cases = Json::parse(file).at("cases");
  for (const Json& one : cases) {
    if (!one.contains("rule") || !have_rule(one)) {
      continue;
    }
    INFO(one.at("id").get<std::string>(), ": ", one.at("why").get<std::string>());
    try {
      check_case(root, one, true);
      check_case(root, one, false);
    } catch (const std::exception& error) {
      FAIL_CHECK(error.what());
    }
  }
  return cases.size();
}

TEST_CASE("recorded results") { CHECK(check_cases(std::string(SMD_RECORDED_TRIALS) + "/rules/") > 100); }

TEST_CASE("recorded results on log directories") { CHECK(check_cases(std::string(SMD_TB_LOGS) + "/") > 50); }

TEST_CASE("recorded results on W&B run files, CSV and JSON lines") {
  CHECK(check_cases(std::string(SMD_METRIC_LOGS) + "/") > 40);
}

TEST_CASE("recorded results on loss curves") {
  const std::string root = std::string(SMD_LOSS_CURVES) + "/";
  std::ifstream file(root + "cases.json");
  REQUIRE(file);
  const Json cases = Json::parse(file).at("cases");
  CHECK(cases.size() > 30);
  for (const Json& one : cases) {
    INFO(one.at("trial").get<std::string>(), " ", one.at("params").dump(), ": ", one.at("why").get<std::string>());
    const smd::Trial trial = smd::Trial::open(root + one.at("trial").get<std::string>(), as_it_stands);
    const smd::RuleResult result = smd::test::result_of(
        trial, smd::make_rule(one.at("rule").get<std::string>(), one.at("params").get<smd::ParameterTexts>()));
    CHECK(smd::to_string(result.status) == one.at("expected").at("status").get<std::string>());
    const Json& expected = one.at("expected").at("findings");
    REQUIRE(result.findings.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      Json finding = expected[i];
      finding["mode"] = "GLOBAL";
      finding["threshold"] = std::stod(one.at("params").value("diff_percent", "0.1"));
      check_finding(result.findings[i], finding);
    }
  }
}

}  // namespace
